import { holder } from '../../blob.ts';
import { IDEMPOTENCY, INVOCATIONS } from '../../columns.ts';
import type { IdempotencyRecord, Write } from '../../port.ts';
import type { BlobChanges } from '../blobs.ts';
import { idempotencyKey } from '../decide.ts';
import { insertNew, rowsAs, type Tx } from '../sql.ts';

/** `replaced`: the keys with an expired record, locked by this transaction. */
export async function writeIdempotency(
  tx: Tx,
  won: readonly Write[],
  replaced: ReadonlySet<string>,
  blobs: BlobChanges,
): Promise<void> {
  const latest = new Map<string, IdempotencyRecord>();
  for (const write of won) {
    if (write.kind === 'idempotency') latest.set(idempotencyKey(write.record), write.record);
  }
  if (latest.size === 0) return;
  const rows = [...latest].map(([key, record]) => {
    const user = holder.idempotency(record.tenant, record.operation, record.key);
    if (replaced.has(key)) blobs.drop(user);
    return { ...record, body: blobs.put(user, record.body), replaced: replaced.has(key) };
  });
  await tx`
    delete from idempotency
    where (tenant, operation, key) in (
      select tenant, operation, key
      from ${rowsAs(tx, 'r', rows, 'tenant text, operation text, key text, replaced boolean')}
      where replaced
    )
  `;
  await insertNew(tx, IDEMPOTENCY, rows, 'tenant, operation, key');
}

export async function writeInvocations(tx: Tx, won: readonly Write[], blobs: BlobChanges): Promise<void> {
  await claimInvocations(tx, won, blobs);
  await settleInvocations(tx, won, blobs);
  await tellInvocations(tx, won);
}

async function claimInvocations(tx: Tx, won: readonly Write[], blobs: BlobChanges): Promise<void> {
  const records = won.flatMap((write) => (write.kind === 'claimInvocation' ? [write.record] : []));
  const rows = records.map((record) => ({
    ...record,
    outcome:
      record.outcome === null
        ? null
        : blobs.put(holder.invocation(record.tenant, record.invocationId), record.outcome),
  }));
  await insertNew(tx, INVOCATIONS, rows, 'tenant, "invocationId"');
}

async function settleInvocations(tx: Tx, won: readonly Write[], blobs: BlobChanges): Promise<void> {
  const settles = won.flatMap((write) => (write.kind === 'settleInvocation' ? [write] : []));
  if (settles.length === 0) return;
  const rows = settles.map(({ tenant, invocationId, outcome, eventsPending = false }) => ({
    tenant,
    invocationId,
    outcome: blobs.put(holder.invocation(tenant, invocationId), outcome),
    eventsPending,
  }));
  await tx`
    update invocations
    set outcome = r.outcome, events_pending = r."eventsPending"
    from ${rowsAs(tx, 'r', rows, 'tenant text, "invocationId" text, outcome text, "eventsPending" boolean')}
    where invocations.tenant = r.tenant and invocations.invocation_id = r."invocationId"
  `;
}

async function tellInvocations(tx: Tx, won: readonly Write[]): Promise<void> {
  const rows = won.filter((write) => write.kind === 'tellInvocation');
  if (rows.length === 0) return;
  await tx`
    update invocations
    set events_pending = false
    from ${rowsAs(tx, 'r', rows, 'tenant text, "invocationId" text')}
    where invocations.tenant = r.tenant and invocations.invocation_id = r."invocationId"
  `;
}
