/**
 * The resolution algorithm of the protocol.
 *
 * R1 Every pack gets the highest version that satisfies all requests for it. When its version changes, its own
 *    requests change too; this repeats until nothing changes. A requester is never moved to an older version to
 *    satisfy others.
 * R2 A pack without such a version is a conflict, and packs that depend on each other in a cycle are refused.
 * R3 An override is the only version of its pack; it must satisfy at least one request.
 * R4 Installed packs have requests too, until another version of them is chosen. If only packs request a pack, its
 *    installed version is kept as long as it satisfies them all, and no registry is read.
 *
 * Packs are processed in rounds, in the order of their names, so the speed of registries does not change the
 * result. Without cycles there is at most one result, and each round settles at least the packs one step further
 * from the roots.
 */
import { OpenwopError } from '@gantry/protocol';
import { type FoundManifest, inTurns, type Registries } from '../registry/registries.ts';
import type { Registry } from '../registry/registry.ts';
import { type Asker, conflict, notFound, uselessOverride } from './failure.ts';
import { installOrder } from './install-order.ts';
import { type Candidate, candidatesOf, type Range, readRange, suits } from './range.ts';
import type { ResolveOptions } from './resolve.ts';

export interface Request {
  readonly range: Range;
  /** The name of the root, or `name@version`. */
  readonly requestedBy: string;
  /** The requesting pack; undefined for a root. */
  readonly pack?: string;
}

/** A version that is installed. */
export interface InstalledVersion {
  readonly version: string;
  /** Ranges by name. */
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  /** It is about to be installed, so its dependencies are resolved too. */
  readonly isNew?: boolean;
}

/** Fixed before versions are chosen; see `ResolveOptions`. */
export interface Fixed extends Required<Pick<ResolveOptions, 'pins' | 'installed'>> {
  readonly overrides: ReadonlyMap<string, string>;
}

/** Only versions that keep changing each other exceed this; others settle after a few changes each. */
const CHANGES_PER_PACK_MAX = 20;
const CHANGES_MIN = 100;

export class Settling {
  readonly #known: KnownPacks;
  readonly #fixed: Fixed;
  /** By requester, for each pack. */
  readonly #requests = new Map<string, Map<string, Request>>();
  /** Versions by name; undefined if no version satisfies all requests. */
  readonly #chosen = new Map<string, string | undefined>();
  /** Every dependency of every version that was ever chosen. */
  readonly #seen = new Map<string, Record<string, string>>();
  #unsettled = new Set<string>();
  /** The packs of this round. Their versions follow from the requests at its start. */
  #round: ReadonlySet<string> = new Set();
  #changes = 0;

  constructor(known: KnownPacks, fixed: Fixed) {
    this.#known = known;
    this.#fixed = fixed;
    for (const name of [...fixed.installed.keys()].sort()) {
      const { version = '', dependencies = {}, isNew = false } = fixed.installed.get(name) ?? {};
      const requested = this.#requestAll(name, version, dependencies);
      if (isNew) for (const dependency of requested) this.#unsettled.add(dependency);
    }
  }

  requestsFor(name: string): Request[] {
    return [...(this.#requests.get(name)?.values() ?? [])];
  }

  /** Adds a request of a root. */
  request(name: string, request: Request): void {
    this.#add(name, request);
    this.#unsettled.add(name);
  }

  #add(name: string, request: Request): void {
    const requester = request.pack ?? `root ${request.requestedBy} ${request.range.text}`;
    const requests = this.#requests.get(name) ?? new Map<string, Request>();
    this.#requests.set(name, requests.set(requester, request));
  }

  /** Whether the version is the installed one, kept without reading a registry (R4). */
  isKept(name: string): boolean {
    const { installed, overrides, pins } = this.#fixed;
    const version = installed.get(name)?.version;
    if (version === undefined || overrides.has(name) || pins.has(name)) return false;
    return this.requestsFor(name).every(({ range, pack }) => pack !== undefined && range.range.test(version));
  }

  /** The versions of all packs that are reachable from the requests, by name. */
  async run(): Promise<ReadonlyMap<string, string>> {
    while (this.#unsettled.size > 0) await this.#settleRound();
    const chosen = new Map<string, string>();
    for (const [name, version] of this.#chosen) if (version !== undefined) chosen.set(name, version);
    installOrder([...chosen].map(([name, version]) => ({ name, dependencies: this.#ranges(name, version) })));
    for (const name of [...this.#chosen.keys()].sort()) this.#check(name);
    return chosen;
  }

  async #settleRound(): Promise<void> {
    const names = [...this.#unsettled].sort();
    this.#round = this.#unsettled;
    this.#unsettled = new Set();
    const asked = names.filter((name) => !this.isKept(name));
    await inTurns(asked, (name) => this.#known.loadVersions(name, this.#pins(name)));
    const versions = await inTurns(names, (name) => this.#loadBest(name));
    for (const [index, name] of names.entries()) this.#choose(name, versions[index]);
  }

  /** An override, or else the pins of requests. */
  #pins(name: string): string[] {
    const override = this.#fixed.overrides.get(name);
    if (override !== undefined) return [override];
    return this.requestsFor(name).flatMap(({ range: { exact } }) => exact ?? []);
  }

  #suitable(name: string, requests: readonly Request[]): readonly Candidate[] {
    const override = this.#fixed.overrides.get(name);
    const pin = this.#fixed.pins.get(name);
    const known = this.#known.candidates(name);
    if (override !== undefined) return known.filter(({ version }) => version === override);
    // A pin to a version that no registry serves any more is ignored.
    const pinned = known.filter(({ version }) => version === pin);
    const candidates = pinned.length > 0 ? pinned : known;
    return candidates.filter((candidate) => requests.every(({ range }) => suits(range, candidate)));
  }

  /** A manifest can say that the best version is withdrawn; then another version is the best. */
  async #loadBest(name: string): Promise<string | undefined> {
    const requests = this.requestsFor(name);
    if (requests.length === 0) return undefined;
    if (this.isKept(name)) return this.#fixed.installed.get(name)?.version;
    for (;;) {
      const [best] = this.#suitable(name, requests);
      if (best === undefined || !(await this.#known.loadManifest(name, best.version))) return best?.version;
    }
  }

  #choose(name: string, version: string | undefined): void {
    const isFirst = !this.#chosen.has(name);
    const before = isFirst ? this.#fixed.installed.get(name)?.version : this.#chosen.get(name);
    if (version === undefined && this.requestsFor(name).length === 0) this.#chosen.delete(name);
    else this.#chosen.set(name, version);
    if (before === version && (!isFirst || this.isKept(name))) return;
    if (++this.#changes > CHANGES_MIN + CHANGES_PER_PACK_MAX * this.#requests.size) throw this.#unsettling();
    for (const dependency of Object.keys(before === undefined ? {} : this.#ranges(name, before))) {
      this.#requests.get(dependency)?.delete(name);
      if (this.#chosen.has(dependency) || this.#round.has(dependency)) this.#unsettled.add(dependency);
    }
    if (version === undefined) return;
    const dependencies = this.#ranges(name, version);
    this.#seen.set(name, { ...this.#seen.get(name), ...dependencies });
    for (const dependency of this.#requestAll(name, version, dependencies)) this.#unsettled.add(dependency);
  }

  #requestAll(name: string, version: string, dependencies: Readonly<Record<string, string>>): string[] {
    const names = Object.keys(dependencies).sort();
    for (const dependency of names) {
      const range = readRange(dependencies[dependency] ?? '');
      if (range) this.#add(dependency, { range, requestedBy: `${name}@${version}`, pack: name });
    }
    return names;
  }

  #ranges(name: string, version: string): Readonly<Record<string, string>> {
    const installed = this.#fixed.installed.get(name);
    if (installed?.version === version) return installed.dependencies ?? {};
    return this.#known.manifest(name, version).manifest.dependencies;
  }

  /** Without a cycle, versions settle, unless a registry tries to stall the resolver. */
  #unsettling(): OpenwopError {
    installOrder([...this.#seen].map(([name, dependencies]) => ({ name, dependencies })));
    return new OpenwopError('pack_dependency_conflict', {
      message:
        'The versions of the packs keep changing each other. Narrow the ranges, or pin packs in overrides.',
    });
  }

  #check(name: string): void {
    if (this.isKept(name)) return;
    const requests = this.requestsFor(name);
    const askers = requests.map((request) => this.#asker(request));
    const override = this.#fixed.overrides.get(name);
    const [best] = this.#suitable(name, requests);
    if (best !== undefined) {
      if (override !== undefined && !requests.some(({ range }) => range.range.test(best.semver)))
        throw uselessOverride(name, override, askers);
      return;
    }
    const candidates = this.#known.candidates(name);
    const alone = requests.findIndex((request) => this.#suitable(name, [request]).length === 0);
    const { [alone]: missing } = askers;
    if (missing === undefined) throw conflict(name, askers, candidates);
    const pin = { requestedBy: 'overrides', range: override ?? '', chain: ['overrides'] };
    throw notFound(name, override === undefined ? missing : pin, candidates, this.#known.registries);
  }

  /** With the path from a root by which each pack was first requested. */
  #asker({ requestedBy, range, pack }: Request): Asker {
    const chain = [requestedBy];
    for (let by = pack && this.requestsFor(pack)[0]; by; by = by.pack && this.requestsFor(by.pack)[0])
      chain.unshift(by.requestedBy);
    return { requestedBy, range: range.text, chain };
  }
}

/** A registry can serve dependencies without end. */
const PACKS_MAX = 10_000;

const keyOf = (name: string, version: string): string => `${name}@${version}`;

/** The data of registries about packs. Each index and manifest is fetched once. */
export class KnownPacks {
  readonly registries: Registries;
  readonly #owners = new Map<string, Registry>();
  readonly #candidates = new Map<string, readonly Candidate[]>();
  readonly #manifests = new Map<string, FoundManifest>();
  readonly #pins = new Set<string>();

  constructor(registries: Registries) {
    this.registries = registries;
  }

  /** Highest first. */
  candidates(name: string): readonly Candidate[] {
    return this.#candidates.get(name) ?? [];
  }

  manifest(name: string, version: string): FoundManifest {
    const found = this.#manifests.get(keyOf(name, version));
    if (found === undefined) throw new Error(`the manifest of ${name}@${version} is not loaded`);
    return found;
  }

  /** Loads the versions of a pack. A pinned version that the index lacks may be in a fallback registry. */
  async loadVersions(name: string, pins: readonly string[]): Promise<void> {
    if (!this.#candidates.has(name)) {
      if (this.#candidates.size >= PACKS_MAX)
        throw new OpenwopError('pack_dependency_conflict', {
          message: `The dependencies lead to more than ${PACKS_MAX} packs. Ask for fewer, or pin packs in overrides.`,
          details: { packsMax: PACKS_MAX },
        });
      this.#candidates.set(name, []);
      const found = await this.registries.index(name);
      if (found !== undefined) this.#owners.set(name, found.registry);
      this.#candidates.set(name, candidatesOf(found?.index.versions ?? []));
    }
    for (const version of pins) await this.#loadPin(name, version);
  }

  async #loadPin(name: string, version: string): Promise<void> {
    const known = this.candidates(name);
    if (this.#pins.has(keyOf(name, version)) || known.some((each) => each.version === version)) return;
    this.#pins.add(keyOf(name, version));
    const found = await this.registries.manifest(name, version);
    if (found === undefined) return;
    this.#manifests.set(keyOf(name, version), found);
    this.#candidates.set(name, candidatesOf([...known, { version, ...found.manifest.record }]));
  }

  /** Loads a manifest. Returns whether it adds to the index that the version is withdrawn. */
  async loadManifest(name: string, version: string): Promise<boolean> {
    if (this.#manifests.has(keyOf(name, version))) return false;
    const registry = this.#owners.get(name);
    const manifest = await registry?.manifest(name, version);
    if (registry === undefined || manifest === undefined)
      throw new OpenwopError('pack_version_not_found', {
        message: `${registry?.url ?? 'The registry'} lists ${name}@${version} but does not serve its manifest. Report it to the registry, or ask for another version.`,
        details: { packName: name, range: version, available: [] },
      });
    this.#manifests.set(keyOf(name, version), { registry, manifest });
    const { yanked } = manifest.record;
    const listed = this.candidates(name);
    if (yanked === undefined || listed.some((each) => each.version === version && each.yanked)) return false;
    this.#candidates.set(
      name,
      listed.map((each) => (each.version === version ? { ...each, yanked } : each)),
    );
    return true;
  }
}
