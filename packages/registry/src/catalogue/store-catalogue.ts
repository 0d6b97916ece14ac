/** The catalogue in the store: summaries of all packs in memory, versions read on demand. */
import type { Readable } from 'node:stream';
import type { ArchiveLimits } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { Entry, EntryKey, Store, Write } from '@gantry/store';
import { fileIn } from '../publish/inspect-archive.ts';
import type { ArchiveStorage } from '../storage/storage.ts';
import type { Catalogue, CatalogueName, PackSummary, PublishedVersion } from './catalogue.ts';
import type { Change, ChangeLog, Proposal } from './change-log.ts';
import { putEntry, readEntries } from './entries.ts';
import { RevisionCache } from './revision-cache.ts';
import { newestFirst, summaryOf } from './summary.ts';
import {
  putVersion,
  readVersions,
  VERSION_KIND,
  type VersionRecord,
  type VersionState,
} from './version-entry.ts';

const PACK_KIND = 'registry-pack';
const PAGE = 500;
/** Characters of manifests kept in memory: about ten times the whole public registry. */
const CACHE_SIZE_MAX = 48 * 1024 * 1024;
/** All versions of a pack are loaded together. */
const VERSIONS_MAX = 5_000;

interface KnownPack {
  readonly summary: PackSummary;
  /** The revision of the last change to the pack. */
  readonly revision: number;
  readonly entryVersion: number;
}

interface Loaded {
  readonly versions: readonly PublishedVersion[];
  /** Characters as stored. */
  readonly size: number;
}

interface StoreCatalogueOptions {
  readonly name: CatalogueName;
  readonly store: Store;
  readonly storage: ArchiveStorage;
  readonly changes: ChangeLog;
  readonly limits: ArchiveLimits;
  readonly now: () => number;
}

export interface VersionAddress {
  readonly name: string;
  readonly version: string;
}

/** The decision about a version, given its stored state. */
export type VersionDecision<T> =
  | { readonly kind: 'keep'; readonly result: T }
  | {
      readonly kind: 'write';
      readonly type: Change['type'];
      readonly state: VersionState;
      readonly result: T;
    };

export class StoreCatalogue implements Catalogue {
  readonly name: CatalogueName;
  readonly #options: StoreCatalogueOptions;
  readonly #packs = new Map<string, KnownPack>();
  readonly #cache = new RevisionCache<Loaded>(CACHE_SIZE_MAX, ({ size }) => size);
  #sorted: { readonly revision: number; readonly summaries: readonly PackSummary[] } | undefined;

  constructor(options: StoreCatalogueOptions) {
    this.name = options.name;
    this.#options = options;
    options.changes.listen((changes) => this.#follow(changes));
  }

  get revision(): number {
    return this.#options.changes.revision;
  }

  /** The log must have started. */
  async load(): Promise<void> {
    const entries = await this.#entries(PACK_KIND);
    this.#packs.clear();
    for (const entry of entries) this.#know(entry);
  }

  summaries(): readonly PackSummary[] {
    if (this.#sorted?.revision !== this.revision) {
      const summaries = [...this.#packs.values()].map(({ summary }) => summary);
      summaries.sort((left, right) => (left.name < right.name ? -1 : 1));
      this.#sorted = { revision: this.revision, summaries };
    }
    return this.#sorted.summaries;
  }

  summary(name: string): PackSummary | undefined {
    return this.#packs.get(name)?.summary;
  }

  async versions(name: string): Promise<readonly PublishedVersion[]> {
    const known = this.#packs.get(name);
    if (known === undefined) return [];
    return (await this.#cache.get(name, known.revision, () => this.#load(name))).versions;
  }

  async version(name: string, version: string): Promise<PublishedVersion | undefined> {
    return (await this.versions(name)).find((published) => published.version === version);
  }

  /** The archive as a stream; rejects if it cannot be read. */
  openArchive({ integrity }: Pick<PublishedVersion, 'integrity'>): Promise<Readable> {
    return this.#options.storage.get(integrity);
  }

  async *archive(version: Pick<PublishedVersion, 'integrity'>): AsyncGenerator<Uint8Array> {
    yield* await this.openArchive(version);
  }

  file(version: Pick<PublishedVersion, 'integrity'>, path: string): Promise<Buffer | undefined> {
    return fileIn(this.archive(version), this.#options.limits, path);
  }

  /** Decides from the stored state of a version; the version, its pack and the log change in one commit. */
  change<T>(
    { name, version }: VersionAddress,
    by: string,
    decide: (state: VersionState | undefined) => VersionDecision<T>,
  ): Promise<T> {
    return this.#options.changes.write<T>(async () => {
      const records = await readVersions(this.#options.store, this.name, name);
      const before = records.find((record) => record.version === version);
      const decision = decide(before?.state);
      if (decision.kind === 'keep') return { kind: 'nothing', result: decision.result };
      if (before === undefined && records.length >= VERSIONS_MAX)
        throw new OpenwopError('conflict', {
          message: `${name} has ${VERSIONS_MAX} versions, the maximum for a pack.`,
        });
      return this.#proposal({ name, version }, by, decision, { before, records });
    });
  }

  /** Deletes everything. Only for the test namespace. */
  reset(by: string): Promise<void> {
    return this.#options.changes.write<void>(async () => {
      const writes: Write[] = [];
      for (const kind of [VERSION_KIND, PACK_KIND])
        for (const { version, ...key } of await this.#entries(kind))
          writes.push({ kind: 'deleteEntry', key, expectedVersion: version });
      if (writes.length === 0) return { kind: 'nothing', result: undefined };
      const apply = (): void => this.#packs.clear();
      return { kind: 'change', change: { type: 'reset', name: '*', by }, writes, apply, result: undefined };
    });
  }

  #proposal<T>(
    { name, version }: VersionAddress,
    by: string,
    { type, state, result }: VersionDecision<T> & { kind: 'write' },
    { before, records }: { before: VersionRecord | undefined; records: readonly VersionRecord[] },
  ): Proposal<T> {
    const states = [...records.filter((record) => record !== before).map((record) => record.state), state];
    const summary = summaryOf(newestFirst(states.flatMap(publishedIn)));
    const put = putVersion({ catalogue: this.name, name, version, state, before, now: this.#options.now() });
    return {
      kind: 'change',
      change: { type, name, version, by },
      writes: [put, ...this.#packWrites(name, summary)],
      apply: (revision) => this.#apply(name, summary, revision),
      result,
    };
  }

  #packWrites(name: string, summary: PackSummary | undefined): Write[] {
    const known = this.#packs.get(name);
    const key: EntryKey = { kind: PACK_KIND, tenant: this.name, id: name };
    if (summary !== undefined) {
      const more = { now: this.#options.now(), expectedVersion: known?.entryVersion ?? null };
      return [putEntry(key, { summary, revision: this.revision + 1 }, more)];
    }
    return known === undefined ? [] : [{ kind: 'deleteEntry', key, expectedVersion: known.entryVersion }];
  }

  #apply(name: string, summary: PackSummary | undefined, revision: number): void {
    const entryVersion = (this.#packs.get(name)?.entryVersion ?? 0) + 1;
    if (summary === undefined) this.#packs.delete(name);
    else this.#packs.set(name, { summary, revision, entryVersion });
  }

  async #load(name: string): Promise<Loaded> {
    const records = await readVersions(this.#options.store, this.name, name);
    return {
      versions: newestFirst(records.flatMap(({ state }) => publishedIn(state))),
      size: records.reduce((total, { size }) => total + size, 0),
    };
  }

  /** Applies changes of other processes. */
  async #follow(changes: readonly Change[]): Promise<void> {
    if (changes.some(({ type }) => type === 'reset')) return this.load();
    for (const name of new Set(changes.map((change) => change.name))) {
      const entry = await this.#options.store.entries.get({ kind: PACK_KIND, tenant: this.name, id: name });
      if (entry === null) this.#packs.delete(name);
      else this.#know(entry);
    }
  }

  #know(entry: Entry): void {
    const { summary, revision }: Omit<KnownPack, 'entryVersion'> = JSON.parse(entry.body);
    this.#packs.set(entry.id, { summary, revision, entryVersion: entry.version });
  }

  #entries(kind: string): Promise<Entry[]> {
    return readEntries(this.#options.store, { kind, tenant: this.name, page: PAGE });
  }
}

const publishedIn = (state: VersionState): PublishedVersion[] =>
  state.state === 'published' ? [state.published] : [];
