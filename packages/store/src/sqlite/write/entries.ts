import type { DatabaseSync } from 'node:sqlite';
import { holder } from '../../blob.ts';
import type { PutInParts } from '../../body-parts.ts';
import { versionAfter } from '../../entry.ts';
import type { EntryKey, FeedRow, NewEntry } from '../../port.ts';
import type { BlobWrites } from '../blobs.ts';
import { selectOne } from '../rows.ts';
import type { Apply } from './apply.ts';

export function preparePutEntry(database: DatabaseSync, blobs: BlobWrites): Apply<'putEntry'> {
  const versionOf = prepareVersionOf(database);
  const count = database.prepare('select count(*) as count from entries where kind = ? and tenant = ?');
  const put = database.prepare(`
    insert into entries (kind, tenant, id, version, workspace, ref, due_at, expires_at, created_at, run_id, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict do update set
      version = excluded.version, workspace = excluded.workspace, ref = excluded.ref, due_at = excluded.due_at,
      expires_at = excluded.expires_at, created_at = excluded.created_at, run_id = excluded.run_id, body = excluded.body
  `);
  const index = prepareIndex(database);
  const addToFeed = prepareAddToFeed(database);
  return (write: PutInParts) => {
    const { entry, expectedVersion, max, feed, bodyHash } = write;
    const isNew = expectedVersion === null;
    if (versionOf(entry) !== expectedVersion) return isNew ? 'exists' : 'stale';
    const { kind, tenant, id, workspace = null, ref, dueAt, expiresAt, createdAt, runId = null } = entry;
    if (isNew && max !== undefined && Number(count.get(kind, tenant)?.count) >= max) return 'full';
    if (index.isTaken(entry)) return 'exists';
    if (!isNew) {
      blobs.drop(holder.entry(entry));
      index.clear(entry);
    }
    const version = versionAfter(write);
    const user = holder.entry(entry);
    const body = bodyHash === undefined ? blobs.put(user, entry.body) : blobs.putStored(user, bodyHash);
    put.run(kind, tenant, id, version, workspace, ref, dueAt, expiresAt, createdAt, runId, body);
    index.put(entry);
    if (feed) addToFeed({ ...feed, kind, tenant, id, workspace, version, op: isNew ? 'create' : 'update' });
    return 'won';
  };
}

export function prepareDeleteEntry(database: DatabaseSync, blobs: BlobWrites): Apply<'deleteEntry'> {
  const remove = database.prepare(`
    delete from entries where kind = ? and tenant = ? and id = ? and version = ? returning workspace
  `);
  const drop = prepareDropEntry(database, blobs);
  const addToFeed = prepareAddToFeed(database);
  return ({ key: { kind, tenant, id }, expectedVersion: version, feed }) => {
    const removed = selectOne<{ workspace: string | null }>(remove, kind, tenant, id, version);
    if (!removed) return 'stale';
    drop({ kind, tenant, id });
    if (feed) addToFeed({ ...feed, ...removed, kind, tenant, id, version, op: 'delete' });
    return 'won';
  };
}

export function prepareExpectEntry(database: DatabaseSync): Apply<'expectEntry'> {
  const versionOf = prepareVersionOf(database);
  return ({ key, version }) => (versionOf(key) === version ? 'won' : 'stale');
}

/** What hangs on an entry that was deleted. */
export function prepareDropEntry(database: DatabaseSync, blobs: BlobWrites): (key: EntryKey) => void {
  const index = prepareIndex(database);
  return (key) => {
    blobs.drop(holder.entry(key));
    index.clear(key);
  };
}

function prepareVersionOf(database: DatabaseSync): (key: EntryKey) => number | null {
  const select = database.prepare('select version from entries where kind = ? and tenant = ? and id = ?');
  return ({ kind, tenant, id }) => selectOne<{ version: number }>(select, kind, tenant, id)?.version ?? null;
}

function prepareIndex(database: DatabaseSync) {
  const insert = database.prepare(`
    insert into entry_index (kind, tenant, name, value, id, is_unique) values (?, ?, ?, ?, ?, ?) on conflict do nothing
  `);
  const selectTaken = database.prepare(`
    select 1 from entry_index
    where kind = ? and tenant = ? and name = ? and value = ? and is_unique and id <> ?
  `);
  const remove = database.prepare('delete from entry_index where kind = ? and tenant = ? and id = ?');
  return {
    /** Whether another entry has one of the unique values. */
    isTaken: ({ kind, tenant, id, index = [] }: NewEntry): boolean =>
      index.some(({ name, value, unique }) => unique && selectTaken.get(kind, tenant, name, value, id)),
    put({ kind, tenant, id, index = [] }: NewEntry): void {
      for (const { name, value, unique } of index) insert.run(kind, tenant, name, value, id, unique ? 1 : 0);
    },
    clear: ({ kind, tenant, id }: EntryKey): void => void remove.run(kind, tenant, id),
  };
}

function prepareAddToFeed(database: DatabaseSync): (row: Omit<FeedRow, 'number'>) => void {
  const insert = database.prepare(`
    insert into feed (kind, tenant, workspace, id, version, op, actor, at) values (?, ?, ?, ?, ?, ?, ?, ?)
  `);
  return ({ kind, tenant, workspace, id, version, op, actor, at }) =>
    void insert.run(kind, tenant, workspace, id, version, op, actor, at);
}

export function prepareAdjust(database: DatabaseSync): Apply<'adjust'> {
  const select = database.prepare('select value from counters where kind = ? and tenant = ? and id = ?');
  const put = database.prepare(`
    insert into counters (kind, tenant, id, value, run_id, expires_at) values (?, ?, ?, ?, ?, ?)
    on conflict do update set value = excluded.value
  `);
  return ({ key: { kind, tenant, id }, delta, max = Number.MAX_SAFE_INTEGER, floor, runId, expiresAt }) => {
    const before = Math.max(Number(select.get(kind, tenant, id)?.value ?? 0), floor ?? -Infinity);
    const value = before + delta;
    if (delta > 0 && value > max) return 'full';
    put.run(kind, tenant, id, value, runId ?? null, expiresAt ?? null);
    return value;
  };
}

export function prepareExpectLease(database: DatabaseSync): Apply<'expectLease'> {
  const select = database.prepare('select 1 from leases where epoch = ?');
  return ({ epoch }) => (select.get(epoch) ? 'won' : 'stale');
}
