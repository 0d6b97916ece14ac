import type { DatabaseSync } from 'node:sqlite';
import { holder } from '../../blob.ts';
import type { BlobWrites } from '../blobs.ts';
import type { Apply } from './apply.ts';

export function prepareIdempotency(database: DatabaseSync, blobs: BlobWrites): Apply<'idempotency'> {
  const select = database.prepare(`
    select expires_at from idempotency where tenant = ? and operation = ? and key = ?
  `);
  const replace = database.prepare(`
    insert or replace into idempotency (tenant, operation, key, digest, status, body, expires_at)
    values (?, ?, ?, ?, ?, ?, ?)
  `);
  return ({ record, now }) => {
    const { tenant, operation, key, digest, status, body, expiresAt } = record;
    const user = holder.idempotency(tenant, operation, key);
    const earlier = select.get(tenant, operation, key);
    if (earlier) {
      if (Number(earlier.expires_at) > now) return 'exists';
      blobs.drop(user);
    }
    replace.run(tenant, operation, key, digest, status, blobs.put(user, body), expiresAt);
    return 'won';
  };
}
