import { holder } from '../../blob.ts';
import { DEFINITIONS, KEYS, WORKFLOWS } from '../../columns.ts';
import type { KeyRecord, WorkflowRecord, Write } from '../../port.ts';
import type { BlobChanges } from '../blobs.ts';
import { insert, type Tx } from '../sql.ts';

export async function writeCatalogue(tx: Tx, won: readonly Write[], blobs: BlobChanges): Promise<void> {
  await putDefinitions(tx, won, blobs);
  await writeContents(tx, won);
  await writeWorkflows(tx, won);
  await putKeys(tx, won);
}

/** The holder is the hash of the body, so keeping the blob of an existing definition changes nothing. */
async function putDefinitions(tx: Tx, won: readonly Write[], blobs: BlobChanges): Promise<void> {
  const bodies = new Map<string, string>();
  for (const write of won) {
    if (write.kind === 'putDefinition' && !bodies.has(write.hash)) bodies.set(write.hash, write.body);
  }
  const rows = [...bodies].map(([hash, body]) => ({ hash, body: blobs.put(holder.definition(hash), body) }));
  await insert(tx, DEFINITIONS, rows, 'order by hash on conflict do nothing');
}

async function writeContents(tx: Tx, won: readonly Write[]): Promise<void> {
  for (const write of won) {
    if (write.kind === 'putContent')
      await tx`insert into contents (hash, bytes) values (${write.hash}, ${write.bytes}) on conflict do nothing`;
    if (write.kind === 'deleteContent') await tx`delete from contents where hash = ${write.hash}`;
  }
}

async function writeWorkflows(tx: Tx, won: readonly Write[]): Promise<void> {
  for (const write of won) {
    if (write.kind === 'putWorkflow') await putWorkflow(tx, write.record);
    if (write.kind === 'deleteWorkflow')
      await tx`delete from workflows where tenant = ${write.tenant} and workflow_id = ${write.workflowId}`;
  }
}

/** A version that is put again gets a new number, so it becomes current again. */
const putWorkflow = (tx: Tx, record: WorkflowRecord) =>
  insert(
    tx,
    WORKFLOWS,
    [record],
    `on conflict (tenant, workflow_id, hash) do update
    set place = default, version = excluded.version, name = excluded.name,
      registered_at = excluded.registered_at, registered_by = excluded.registered_by`,
  );

async function putKeys(tx: Tx, won: readonly Write[]): Promise<void> {
  const latest = new Map<string, KeyRecord>();
  for (const write of won) if (write.kind === 'putKey') latest.set(write.record.keyId, write.record);
  const rows = [...latest.values()].map((record) => ({ ...record, scopes: JSON.stringify(record.scopes) }));
  await insert(
    tx,
    KEYS,
    rows,
    `order by "keyId" on conflict (key_id) do update
    set tenant = excluded.tenant, workspace = excluded.workspace, principal = excluded.principal, name = excluded.name, hash = excluded.hash,
      scopes = excluded.scopes, created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`,
  );
}
