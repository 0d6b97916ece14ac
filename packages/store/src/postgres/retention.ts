import { holder } from '../blob.ts';
import {
  type EntryKey,
  FEED_KEPT_MS,
  type IdempotencyRecord,
  type InvocationRecord,
  type RetentionSweep,
} from '../port.ts';
import { type BlobChanges, collectBlobChanges } from './blobs.ts';
import { sweepUploads } from './body-parts.ts';
import { forgetMarks } from './commit-marks.ts';
import { type Sql, sweep, type Tx } from './sql.ts';
import { deleteIndex } from './write/entries.ts';

export const retention = (sql: Sql): RetentionSweep => ({
  deleteEnded: (endedBefore, limit) => sweep(sql, (tx) => deleteEnded(tx, endedBefore, limit)),
  deleteRun: (tenant, runId) => sweep(sql, (tx) => deleteRun(tx, tenant, runId)),
  deleteExpired: (now, invocationsBefore, limit) =>
    sweep(sql, (tx) => deleteExpired(tx, now, invocationsBefore, limit)),
});

type InvocationKey = Pick<InvocationRecord, 'tenant' | 'invocationId'>;
type IdempotencyKey = Pick<IdempotencyRecord, 'tenant' | 'operation' | 'key'>;

async function deleteEnded(tx: Tx, endedBefore: number, limit: number): Promise<number> {
  const ended = await tx<{ runId: string }[]>`
    select run_id as "runId"
    from runs
    where ended_at < ${endedBefore}
    order by ended_at
    limit ${limit}
    for update skip locked
  `;
  if (ended.length > 0)
    await deleteWithAll(
      tx,
      ended.map((row) => row.runId),
    );
  return ended.length;
}

async function deleteRun(tx: Tx, tenant: string, runId: string): Promise<boolean> {
  const found = await tx`
    select 1 from runs where run_id = ${runId} and tenant = ${tenant} and ended_at is not null for update
  `;
  if (found.length > 0) await deleteWithAll(tx, [runId]);
  return found.length > 0;
}

async function deleteWithAll(tx: Tx, runIds: readonly string[]): Promise<void> {
  await tx`delete from runs where run_id = any(${runIds})`;
  await tx`delete from events where run_id = any(${runIds})`;
  await tx`delete from snapshots where run_id = any(${runIds})`;
  const invocations = await tx<InvocationKey[]>`
    delete from invocations where run_id = any(${runIds}) returning tenant, invocation_id as "invocationId"
  `;
  const entries = await tx<EntryKey[]>`
    delete from entries where run_id = any(${runIds}) returning kind, tenant, id
  `;
  await tx`delete from counters where run_id = any(${runIds})`;
  const blobs = collectBlobChanges(tx);
  await dropEntries(tx, blobs, entries);
  for (const runId of runIds) {
    blobs.drop(holder.run(runId));
    blobs.drop(holder.snapshot(runId));
  }
  dropInvocations(blobs, invocations);
  await blobs.flush();
}

/** Rows that a commit is about to renew are skipped until the next sweep. */
async function deleteExpired(tx: Tx, now: number, invocationsBefore: number, limit: number): Promise<number> {
  const expired = await tx<IdempotencyKey[]>`
    delete from idempotency
    where ctid = any(array(
      select ctid from idempotency where expires_at <= ${now} order by expires_at limit ${limit}
      for update skip locked
    ))
    returning tenant, operation, key
  `;
  const invocations = await tx<InvocationKey[]>`
    delete from invocations
    where ctid = any(array(
      select ctid from invocations where claimed_at < ${invocationsBefore} order by claimed_at limit ${limit}
      for update skip locked
    ))
    returning tenant, invocation_id as "invocationId"
  `;
  const entries = await tx<EntryKey[]>`
    delete from entries
    where ctid = any(array(
      select ctid from entries where expires_at <= ${now} order by expires_at limit ${limit}
      for update skip locked
    ))
    returning kind, tenant, id
  `;
  await forgetMarks(tx);
  await sweepUploads(tx);
  const fed = await deleteOldFeed(tx, now - FEED_KEPT_MS, limit);
  const { count: counters } = await tx`
    delete from counters
    where ctid = any(array(
      select ctid from counters where expires_at <= ${now} order by expires_at limit ${limit}
      for update skip locked
    ))
  `;
  const blobs = collectBlobChanges(tx);
  await dropEntries(tx, blobs, entries);
  for (const { tenant, operation, key } of expired) blobs.drop(holder.idempotency(tenant, operation, key));
  dropInvocations(blobs, invocations);
  await blobs.flush();
  return expired.length + invocations.length + entries.length + fed + counters;
}

/** Keeps the newest expired row, which shows that a cursor before it has missed rows. */
async function deleteOldFeed(tx: Tx, before: number, limit: number): Promise<number> {
  const { count } = await tx`
    delete from feed
    where ctid = any(array(
      select ctid from feed where number < (select max(number) from feed where at < ${before})
      order by number limit ${limit} for update skip locked
    ))
  `;
  return count;
}

async function dropEntries(tx: Tx, blobs: BlobChanges, deleted: readonly EntryKey[]): Promise<void> {
  for (const key of deleted) blobs.drop(holder.entry(key));
  await deleteIndex(tx, deleted);
}

function dropInvocations(blobs: BlobChanges, deleted: readonly InvocationKey[]): void {
  for (const { tenant, invocationId } of deleted) blobs.drop(holder.invocation(tenant, invocationId));
}
