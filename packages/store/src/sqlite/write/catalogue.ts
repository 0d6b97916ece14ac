import { atRest, holder } from '../../blob.ts';
import { DEFINITIONS, KEYS, WORKFLOWS } from '../../columns.ts';
import type { BlobWrites } from '../blobs.ts';
import { insertRow, type Queries } from '../rows.ts';
import type { Writes } from './apply.ts';

type Kinds = 'putDefinition' | 'putContent' | 'deleteContent' | 'putWorkflow' | 'deleteWorkflow' | 'putKey';

export function catalogueWrites({ run }: Queries, blobs: BlobWrites): Writes<Kinds> {
  const putDefinition = run(`${insertRow(DEFINITIONS)} on conflict do nothing`);
  const putContent = run('insert into contents (hash, bytes) values (?, ?) on conflict do nothing');
  const deleteContent = run('delete from contents where hash = ?');
  const putWorkflow = run(insertRow(WORKFLOWS).replace('insert', 'insert or replace'));
  const deleteWorkflow = run('delete from workflows where tenant = ? and workflow_id = ?');
  const putKey = run(insertRow(KEYS).replace('insert', 'insert or replace'));
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
    /** A version that is put again gets a new number, so it becomes current again. */
    putWorkflow({ record: { tenant, workflowId, hash, version, name, registeredAt, registeredBy } }) {
      putWorkflow(tenant, workflowId, hash, version, name, registeredAt, registeredBy);
      return 'won';
    },
    deleteWorkflow({ tenant, workflowId }) {
      deleteWorkflow(tenant, workflowId);
      return 'won';
    },
    putKey({ record }) {
      const { keyId, tenant, workspace, principal, name, hash, scopes, createdAt } = record;
      const ends = [record.expiresAt, record.revokedAt];
      putKey(keyId, tenant, principal, name, hash, JSON.stringify(scopes), createdAt, ...ends, workspace);
      return 'won';
    },
  };
}
