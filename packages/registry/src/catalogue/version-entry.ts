/** A stored version. An unpublished one stays on record, so that its content can never be replaced. */
import type { Entry, EntryKey, Store, Write } from '@gantry/store';
import type { CatalogueName, PublishedVersion } from './catalogue.ts';
import { putEntry, readEntries } from './entries.ts';

export const VERSION_KIND = 'registry-version';
const PAGE = 100;

export type VersionState =
  | { readonly state: 'published'; readonly published: PublishedVersion }
  | {
      readonly state: 'unpublished';
      readonly integrity: string;
      readonly unpublishedAt: string;
      readonly unpublishedBy: string;
    };

export interface VersionRecord {
  readonly version: string;
  readonly state: VersionState;
  /** Version of the entry, for the next write. */
  readonly entryVersion: number;
  /** Characters of the entry: its cost in the cache. */
  readonly size: number;
}

const recordOf = (entry: Entry): VersionRecord => ({
  version: entry.id.slice(entry.id.indexOf('@') + 1),
  state: JSON.parse(entry.body),
  entryVersion: entry.version,
  size: entry.body.length,
});

/** Every version of a pack, in no particular order. */
export async function readVersions(
  store: Pick<Store, 'entries'>,
  catalogue: CatalogueName,
  name: string,
): Promise<VersionRecord[]> {
  const entries = await readEntries(store, { kind: VERSION_KIND, tenant: catalogue, ref: name, page: PAGE });
  return entries.map(recordOf);
}

export function putVersion(options: {
  readonly catalogue: CatalogueName;
  readonly name: string;
  readonly version: string;
  readonly state: VersionState;
  readonly before: VersionRecord | undefined;
  readonly now: number;
}): Write {
  const { catalogue, name, version, state, before, now } = options;
  const key = { kind: VERSION_KIND, tenant: catalogue, id: `${name}@${version}` };
  return putEntry(key, state, { now, ref: name, expectedVersion: before?.entryVersion ?? null });
}

/** Integrities of all published versions in all catalogues. */
export async function namedArchives(store: Pick<Store, 'entries'>): Promise<Set<string>> {
  const named = new Set<string>();
  for (let after: EntryKey | null = null; ; ) {
    const page: Entry[] = await store.entries.all(VERSION_KIND, after, PAGE);
    for (const { state } of page.map(recordOf))
      if (state.state === 'published') named.add(state.published.integrity);
    after = page.at(-1) ?? null;
    if (page.length < PAGE) return named;
  }
}
