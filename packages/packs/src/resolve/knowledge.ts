import { OpenwopError } from '@gantry/protocol';
import type { FoundManifest, Registries } from '../registry/registries.ts';
import type { Registry } from '../registry/registry.ts';
import type { Need } from './learner.ts';
import { type Candidate, candidatesOf, highestFirst, type Range, readRange, suits } from './range.ts';
import type { Facts } from './selection.ts';

const REQUESTS_AT_ONCE_MAX = 16;
/** A registry can lead from pack to pack without end. */
const PACKS_MAX = 10_000;

const keyOf = (name: string, version: string): string => `${name}@${version}`;

/**
 * What registries told so far. The search asks for one thing after the other; `foresee` asks ahead for what it will
 * most likely want, many at once, so that a resolution takes as long as the longest chain and not as the sum.
 */
export class Knowledge implements Facts {
  readonly #registries: Registries;
  readonly #limit = new Limit(REQUESTS_AT_ONCE_MAX);
  readonly #ranges = new Map<string, Range | undefined>();
  readonly #candidates = new Map<string, readonly Candidate[]>();
  readonly #owners = new Map<string, Registry>();
  readonly #manifests = new Map<string, FoundManifest>();
  readonly #dependencies = new Map<string, ReadonlyMap<string, Range>>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #foreseen = new Set<string>();
  #closed = false;

  constructor(registries: Registries) {
    this.#registries = registries;
  }

  candidates(name: string): readonly Candidate[] | undefined {
    return this.#candidates.get(name);
  }

  dependencies(name: string, version: string): ReadonlyMap<string, Range> | undefined {
    return this.#dependencies.get(keyOf(name, version));
  }

  manifest(name: string, version: string): FoundManifest {
    const found = this.#manifests.get(keyOf(name, version));
    if (found === undefined) throw new Error(`${name}@${version} was chosen without its manifest`);
    return found;
  }

  range(text: string): Range | undefined {
    const known = this.#ranges.get(text) ?? readRange(text);
    this.#ranges.set(text, known);
    return known;
  }

  learn(need: Need): Promise<void> {
    switch (need.kind) {
      case 'index':
        return this.#once(`index ${need.name}`, () => this.#learnIndex(need.name));
      case 'pin':
        return this.#once(`pin ${keyOf(need.name, need.version)}`, () =>
          this.#learnPin(need.name, need.version),
        );
      case 'dependencies':
        return this.#once(`manifest ${keyOf(need.name, need.version)}`, () =>
          this.#learnManifest(need.name, need.version),
        );
    }
  }

  /** Guesses that the highest version will do. What goes wrong here is told when the search really needs it. */
  foresee(name: string, range: Range): void {
    if (this.#closed || this.#foreseen.has(`${name} ${range.text}`)) return;
    this.#foreseen.add(`${name} ${range.text}`);
    this.#foresee(name, range).catch(() => undefined);
  }

  /** Nothing more is asked ahead. */
  close(): void {
    this.#closed = true;
  }

  async #foresee(name: string, range: Range): Promise<void> {
    await this.learn({ kind: 'index', name });
    const likely = this.#candidates.get(name)?.find((candidate) => suits(range, candidate));
    if (likely === undefined || this.#closed) return;
    await this.learn({ kind: 'dependencies', name, version: likely.version });
    for (const [dependency, wanted] of this.dependencies(name, likely.version) ?? [])
      this.foresee(dependency, wanted);
  }

  async #learnIndex(name: string): Promise<void> {
    if (this.#candidates.size >= PACKS_MAX) throw tooMany();
    const found = await this.#limit.run(() => this.#registries.index(name));
    if (found !== undefined) this.#owners.set(name, found.registry);
    this.#candidates.set(name, candidatesOf(found?.index.versions ?? []));
  }

  async #learnPin(name: string, version: string): Promise<void> {
    const found = await this.#limit.run(() => this.#registries.manifest(name, version));
    if (found === undefined) return;
    const [pinned] = candidatesOf([{ version, ...found.manifest.record }]);
    const known = this.#candidates.get(name) ?? [];
    if (pinned !== undefined) this.#candidates.set(name, [...known, pinned].sort(highestFirst));
    this.#remember(found);
  }

  async #learnManifest(name: string, version: string): Promise<void> {
    const registry = this.#owners.get(name);
    const manifest = registry && (await this.#limit.run(() => registry.manifest(name, version)));
    if (registry === undefined || manifest === undefined)
      throw new OpenwopError('pack_version_not_found', {
        message: `${registry?.url ?? 'The registry'} lists ${name}@${version} and does not serve its manifest. Tell the registry, or ask for another version.`,
        details: { packName: name, range: version, available: [] },
      });
    this.#remember({ registry, manifest });
  }

  #remember(found: FoundManifest): void {
    const { name, version, dependencies, record } = found.manifest;
    if (record.yanked !== undefined) this.#withdraw(name, version, record.yanked);
    const ranges = Object.keys(dependencies)
      .sort()
      .flatMap((dependency): [string, Range][] => {
        const range = this.range(dependencies[dependency] ?? '');
        return range === undefined ? [] : [[dependency, range]];
      });
    this.#manifests.set(keyOf(name, version), found);
    this.#dependencies.set(keyOf(name, version), new Map(ranges));
    for (const [dependency, range] of ranges) this.foresee(dependency, range);
  }

  /** The manifest knows it, and the index perhaps not yet. */
  #withdraw(name: string, version: string, yanked: NonNullable<Candidate['yanked']>): void {
    const known = this.#candidates.get(name) ?? [];
    const isNews = (candidate: Candidate): boolean =>
      candidate.version === version && candidate.yanked === undefined;
    this.#candidates.set(
      name,
      known.map((candidate) => (isNews(candidate) ? { ...candidate, yanked } : candidate)),
    );
  }

  #once(key: string, ask: () => Promise<void>): Promise<void> {
    const asking = this.#asking.get(key) ?? ask();
    this.#asking.set(key, asking);
    return asking;
  }
}

const tooMany = (): OpenwopError =>
  new OpenwopError('pack_dependency_conflict', {
    message: `The dependencies lead to more than ${PACKS_MAX} packs. Ask for fewer, or pin what grows without end in overrides.`,
    details: { packsMax: PACKS_MAX },
  });

/** So many at once, the others in turn. */
class Limit {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
