import { holder } from '../../blob.ts';
import type { PutInParts } from '../../body-parts.ts';
import { COUNTERS, ENTRIES, ENTRY_INDEX, FEED } from '../../columns.ts';
import { adjusted, versionAfter } from '../../entry.ts';
import type { EntryKey, FeedRow, NewEntry } from '../../port.ts';
import type { BlobWrites } from '../blobs.ts';
import { insertRow, type Queries } from '../rows.ts';
import type { Writes } from './apply.ts';

type Kinds = 'putEntry' | 'deleteEntry' | 'expectEntry' | 'expectLease' | 'adjust';

export function entryWrites(queries: Queries, blobs: BlobWrites): Writes<Kinds> {
  const { one } = queries;
  const select = one<{ version: number }>(
    'select version from entries where kind = ? and tenant = ? and id = ?',
  );
  const versionOf = ({ kind, tenant, id }: EntryKey): number | null =>
    select(kind, tenant, id)?.version ?? null;
  const remove = one<{ workspace: string | null }>(`
    delete from entries where kind = ? and tenant = ? and id = ? and version = ? returning workspace
  `);
  const dropEntry = prepareDropEntry(queries, blobs);
  const addToFeed = prepareAddToFeed(queries);
  const lease = one('select 1 from leases where epoch = ?');
  return {
    putEntry: preparePut(queries, blobs, versionOf, addToFeed),
    deleteEntry({ key: { kind, tenant, id }, expectedVersion: version, feed }) {
      const removed = remove(kind, tenant, id, version);
      if (!removed) return 'stale';
      dropEntry({ kind, tenant, id });
      if (feed) addToFeed({ ...feed, ...removed, kind, tenant, id, version, op: 'delete' });
      return 'won';
    },
    expectEntry: ({ key, version }) => (versionOf(key) === version ? 'won' : 'stale'),
    expectLease: ({ epoch }) => (lease(epoch) ? 'won' : 'stale'),
    adjust: prepareAdjust(queries),
  };
}

function preparePut(
  queries: Queries,
  blobs: BlobWrites,
  versionOf: (key: EntryKey) => number | null,
  addToFeed: (row: Omit<FeedRow, 'number'>) => void,
): Writes<'putEntry'>['putEntry'] {
  const { one, run } = queries;
  const counted = one<{ count: number }>(
    'select count(*) as count from entries where kind = ? and tenant = ?',
  );
  const put = run(`
    ${insertRow(ENTRIES)}
    on conflict do update set
      version = excluded.version, workspace = excluded.workspace, ref = excluded.ref, due_at = excluded.due_at,
      expires_at = excluded.expires_at, created_at = excluded.created_at, run_id = excluded.run_id, body = excluded.body
  `);
  const index = prepareIndex(queries);
  return (write: PutInParts) => {
    const { entry, expectedVersion, max, feed, bodyHash } = write;
    const isNew = expectedVersion === null;
    if (versionOf(entry) !== expectedVersion) return isNew ? 'exists' : 'stale';
    const { kind, tenant, id, workspace = null, ref, dueAt, expiresAt, createdAt, runId = null } = entry;
    if (isNew && max !== undefined && (counted(kind, tenant)?.count ?? 0) >= max) return 'full';
    if (index.isTaken(entry)) return 'exists';
    const user = holder.entry(entry);
    if (!isNew) {
      blobs.drop(user);
      index.clear(entry);
    }
    const version = versionAfter(write);
    const body = bodyHash === undefined ? blobs.put(user, entry.body) : blobs.putStored(user, bodyHash);
    put(kind, tenant, id, version, workspace, ref, dueAt, expiresAt, createdAt, runId, body);
    index.put(entry);
    if (feed) addToFeed({ ...feed, kind, tenant, id, workspace, version, op: isNew ? 'create' : 'update' });
    return 'won';
  };
}

/** Deletes the dependent rows of a deleted entry. */
export function prepareDropEntry(queries: Queries, blobs: BlobWrites): (key: EntryKey) => void {
  const index = prepareIndex(queries);
  return (key) => {
    blobs.drop(holder.entry(key));
    index.clear(key);
  };
}

function prepareIndex({ one, run }: Queries) {
  const insert = run(`${insertRow(ENTRY_INDEX)} on conflict do nothing`);
  const taken = one(`
    select 1 from entry_index
    where kind = ? and tenant = ? and name = ? and value = ? and is_unique and id <> ?
  `);
  const remove = run('delete from entry_index where kind = ? and tenant = ? and id = ?');
  return {
    /** Whether another entry has one of the unique values. */
    isTaken: ({ kind, tenant, id, index = [] }: NewEntry): boolean =>
      index.some(({ name, value, unique }) => unique && taken(kind, tenant, name, value, id)),
    put({ kind, tenant, id, index = [] }: NewEntry): void {
      for (const { name, value, unique } of index) insert(kind, tenant, name, value, id, unique ? 1 : 0);
    },
    clear: ({ kind, tenant, id }: EntryKey): void => void remove(kind, tenant, id),
  };
}

function prepareAddToFeed({ run }: Queries): (row: Omit<FeedRow, 'number'>) => void {
  const insert = run(insertRow(FEED));
  return ({ kind, tenant, workspace, id, version, op, actor, at }) =>
    void insert(kind, tenant, workspace, id, version, op, actor, at);
}

function prepareAdjust({ one, run }: Queries): Writes<'adjust'>['adjust'] {
  const select = one<{ value: number }>(
    'select value from counters where kind = ? and tenant = ? and id = ?',
  );
  const put = run(`${insertRow(COUNTERS)} on conflict do update set value = excluded.value`);
  return (write) => {
    const { key, runId, expiresAt } = write;
    const { kind, tenant, id } = key;
    const value = adjusted(select(kind, tenant, id)?.value ?? 0, write);
    if (value === 'full') return 'full';
    put(kind, tenant, id, value, runId ?? null, expiresAt ?? null);
    return value;
  };
}
