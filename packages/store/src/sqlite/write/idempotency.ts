import type { DatabaseSync } from 'node:sqlite';
import { atRest, holder } from '../../blob.ts';
import type { BlobWrites } from '../blobs.ts';
import type { Apply } from './apply.ts';

export function prepareIdempotency(database: DatabaseSync, blobs: BlobWrites): Apply<'idempotency'> {
  const upsert = database.prepare(`
    insert into idempotency (tenant, operation, key, digest, status, body, expires_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    on conflict do update
    set digest = ?4, status = ?5, body = ?6, expires_at = ?7
    where idempotency.expires_at <= ?8
  `);
  return ({ record, now }) => {
    const { tenant, operation, key, digest, status, body, expiresAt } = record;
    const stored = atRest(body);
    const { changes } = upsert.run(tenant, operation, key, digest, status, stored, expiresAt, now);
    if (changes === 0) return 'exists';
    const user = holder.idempotency(tenant, operation, key);
    blobs.drop(user);
    blobs.keep(user, body, stored);
    return 'won';
  };
}
