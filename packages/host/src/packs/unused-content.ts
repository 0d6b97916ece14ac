/**
 * Deletes content of packs that nobody has installed and no run is pinned to. What is found unused is deleted by a later
 * sweep, at least an hour on: a run that was being created meanwhile is there by then. An install relies on the entry
 * in its commit, so it never loses what it found.
 */
import type { WorkflowDefinition } from '@gantry/protocol';
import type { Entry, Store } from '@gantry/store';
import type { CodeFolders } from './code-folders.ts';
import { bodyOf, PACK, PACK_VERSION, type PackRecord, type VersionRecord } from './pack-record.ts';
import { pinsIn } from './workflow-pins.ts';

const UNUSED_MS = 3_600_000;
const PAGE = 100;

export interface UnusedContentOptions {
  readonly store: Pick<Store, 'commit' | 'entries' | 'records'>;
  readonly folders: CodeFolders;
  readonly now: () => number;
}

export class UnusedContent {
  readonly #options: UnusedContentOptions;
  /** When this process first found it unused, by integrity. */
  #unusedSince: ReadonlyMap<string, number> = new Map();

  constructor(options: UnusedContentOptions) {
    this.#options = options;
  }

  /** Answers how many archives were deleted. */
  async sweep(): Promise<number> {
    const now = this.#options.now();
    const unused = await this.#unused();
    const since = this.#unusedSince;
    this.#unusedSince = new Map(unused.map(({ id }) => [id, since.get(id) ?? now]));
    let deleted = 0;
    for (const entry of unused)
      if (now - (since.get(entry.id) ?? now) >= UNUSED_MS && (await this.#delete(entry))) deleted += 1;
    return deleted;
  }

  /** Runs are read only when something is not installed. */
  async #unused(): Promise<Entry[]> {
    const installed = new Set<string>();
    for await (const entry of this.#all(PACK)) installed.add(bodyOf<PackRecord>(entry).integrity);
    const leftOver: Entry[] = [];
    for await (const entry of this.#all(PACK_VERSION)) if (!installed.has(entry.id)) leftOver.push(entry);
    if (leftOver.length === 0) return [];
    const pinned = await this.#pinned();
    return leftOver.filter(({ id }) => !pinned.has(id));
  }

  async *#all(kind: string): AsyncGenerator<Entry> {
    for (let last: Entry | null = null; ; ) {
      const page: Entry[] = await this.#options.store.entries.all(kind, last, PAGE);
      yield* page;
      last = page.at(-1) ?? null;
      if (page.length < PAGE) return;
    }
  }

  async #pinned(): Promise<Set<string>> {
    const { records } = this.#options.store;
    const pinned = new Set<string>();
    for (const hash of await records.pinnedHashes()) {
      const body = await records.definition(hash);
      const definition: WorkflowDefinition | undefined = body === null ? undefined : JSON.parse(body);
      for (const { integrity } of pinsIn(definition?.packs)) pinned.add(integrity);
    }
    return pinned;
  }

  async #delete(entry: Entry): Promise<boolean> {
    const { store, folders } = this.#options;
    const { kind, tenant, id, version } = entry;
    const [result] = await store.commit([
      [
        { kind: 'deleteEntry', key: { kind, tenant, id }, expectedVersion: version },
        { kind: 'deleteContent', hash: id },
      ],
    ]);
    if (result?.won) await folders.remove({ ...bodyOf<VersionRecord>(entry), integrity: id });
    return result?.won ?? false;
  }
}
