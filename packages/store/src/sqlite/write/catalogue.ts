import type { DatabaseSync } from 'node:sqlite';
import { atRest, holder } from '../../blob.ts';
import type { BlobWrites } from '../blobs.ts';
import type { Apply } from './apply.ts';

export function preparePutDefinition(database: DatabaseSync, blobs: BlobWrites): Apply<'putDefinition'> {
  const insert = database.prepare(
    'insert into definitions (hash, body) values (?, ?) on conflict do nothing',
  );
  return ({ hash, body }) => {
    const stored = atRest(body);
    if (insert.run(hash, stored).changes > 0) blobs.keep(holder.definition(hash), body, stored);
    return 'won';
  };
}

export function prepareContents(database: DatabaseSync): {
  readonly [K in 'putContent' | 'deleteContent']: Apply<K>;
} {
  const insert = database.prepare('insert into contents (hash, bytes) values (?, ?) on conflict do nothing');
  const remove = database.prepare('delete from contents where hash = ?');
  return {
    putContent({ hash, bytes }) {
      insert.run(hash, bytes);
      return 'won';
    },
    deleteContent({ hash }) {
      remove.run(hash);
      return 'won';
    },
  };
}

export function prepareWorkflows(database: DatabaseSync): {
  readonly [K in 'putWorkflow' | 'deleteWorkflow']: Apply<K>;
} {
  const replace = database.prepare(`
    insert or replace into workflows (tenant, workflow_id, hash, version, name, registered_at)
    values (?, ?, ?, ?, ?, ?)
  `);
  const remove = database.prepare('delete from workflows where tenant = ? and workflow_id = ?');
  return {
    /** A version that comes again gets a new number, so it is current again. */
    putWorkflow({ record }) {
      const { tenant, workflowId, hash, version, name, registeredAt } = record;
      replace.run(tenant, workflowId, hash, version, name, registeredAt);
      return 'won';
    },
    deleteWorkflow({ tenant, workflowId }) {
      remove.run(tenant, workflowId);
      return 'won';
    },
  };
}

export function preparePutKey(database: DatabaseSync): Apply<'putKey'> {
  const replace = database.prepare(`
    insert or replace into keys (key_id, tenant, name, hash, scopes, created_at, expires_at, revoked_at)
    values (?, ?, ?, ?, ?, ?, ?, ?)
  `);
  return ({ record }) => {
    const { keyId, tenant, name, hash, scopes, createdAt, expiresAt, revokedAt } = record;
    replace.run(keyId, tenant, name, hash, JSON.stringify(scopes), createdAt, expiresAt, revokedAt);
    return 'won';
  };
}
