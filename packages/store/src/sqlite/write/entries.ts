import type { DatabaseSync } from 'node:sqlite';
import { atRest, holder } from '../../blob.ts';
import type { BlobWrites } from '../blobs.ts';
import type { Apply } from './apply.ts';

export function preparePutEntry(database: DatabaseSync, blobs: BlobWrites): Apply<'putEntry'> {
  const insert = database.prepare(`
    insert into entries (kind, tenant, id, ref, version, due_at, expires_at, created_at, body)
    values (?, ?, ?, ?, 1, ?, ?, ?, ?)
    on conflict do nothing
  `);
  const update = database.prepare(`
    update entries
    set ref = ?, version = version + 1, due_at = ?, expires_at = ?, created_at = ?, body = ?
    where kind = ? and tenant = ? and id = ? and version = ?
  `);
  return ({ entry, expectedVersion }) => {
    const { kind, tenant, id, ref, dueAt, expiresAt, createdAt, body } = entry;
    const stored = atRest(body);
    if (expectedVersion === null) {
      const { changes } = insert.run(kind, tenant, id, ref, dueAt, expiresAt, createdAt, stored);
      if (changes === 0) return 'exists';
    } else {
      const key = [kind, tenant, id, expectedVersion];
      if (update.run(ref, dueAt, expiresAt, createdAt, stored, ...key).changes === 0) return 'stale';
      blobs.drop(holder.entry(entry));
    }
    blobs.keep(holder.entry(entry), body, stored);
    return 'won';
  };
}

export function prepareDeleteEntry(database: DatabaseSync, blobs: BlobWrites): Apply<'deleteEntry'> {
  const remove = database.prepare(`
    delete from entries where kind = ? and tenant = ? and id = ? and version = ?
  `);
  return ({ key, expectedVersion }) => {
    if (remove.run(key.kind, key.tenant, key.id, expectedVersion).changes === 0) return 'stale';
    blobs.drop(holder.entry(key));
    return 'won';
  };
}
