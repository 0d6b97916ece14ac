import { atRest, holder } from '../../blob.ts';
import type { BlobWrites } from '../blobs.ts';
import type { Queries } from '../rows.ts';
import type { Writes } from './apply.ts';

type Kinds = 'putDefinition' | 'putContent' | 'deleteContent' | 'putWorkflow' | 'deleteWorkflow' | 'putKey';

export function catalogueWrites({ run }: Queries, blobs: BlobWrites): Writes<Kinds> {
  const putDefinition = run('insert into definitions (hash, body) values (?, ?) on conflict do nothing');
  const putContent = run('insert into contents (hash, bytes) values (?, ?) on conflict do nothing');
  const deleteContent = run('delete from contents where hash = ?');
  const putWorkflow = run(`
    insert or replace into workflows (tenant, workflow_id, hash, version, name, registered_at)
    values (?, ?, ?, ?, ?, ?)
  `);
  const deleteWorkflow = run('delete from workflows where tenant = ? and workflow_id = ?');
  const putKey = run(`
    insert or replace into keys (key_id, tenant, name, hash, scopes, created_at, expires_at, revoked_at)
    values (?, ?, ?, ?, ?, ?, ?, ?)
  `);
  return {
    putDefinition({ hash, body }) {
      const stored = atRest(body);
      if (putDefinition(hash, stored) > 0) blobs.keep(holder.definition(hash), body, stored);
      return 'won';
    },
    putContent({ hash, bytes }) {
      putContent(hash, bytes);
      return 'won';
    },
    deleteContent({ hash }) {
      deleteContent(hash);
      return 'won';
    },
    /** A version that comes again gets a new number, so it is current again. */
    putWorkflow({ record: { tenant, workflowId, hash, version, name, registeredAt } }) {
      putWorkflow(tenant, workflowId, hash, version, name, registeredAt);
      return 'won';
    },
    deleteWorkflow({ tenant, workflowId }) {
      deleteWorkflow(tenant, workflowId);
      return 'won';
    },
    putKey({ record: { keyId, tenant, name, hash, scopes, createdAt, expiresAt, revokedAt } }) {
      putKey(keyId, tenant, name, hash, JSON.stringify(scopes), createdAt, expiresAt, revokedAt);
      return 'won';
    },
  };
}
