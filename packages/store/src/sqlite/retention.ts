import type { DatabaseSync } from 'node:sqlite';
import { holder } from '../blob.ts';
import {
  type EntryKey,
  FEED_KEPT_MS,
  type IdempotencyRecord,
  type InvocationRecord,
  type RetentionSweep,
  type RunKey,
} from '../port.ts';
import type { BlobWrites } from './blobs.ts';
import type { Sync } from './channel.ts';
import { LIMIT, queriesOn } from './rows.ts';
import type { Transaction } from './transaction.ts';
import { prepareDropEntry } from './write/entries.ts';

/** Commits wait for the transaction of a sweep, so it ends with the run that exceeds this. */
const SWEEP_MS = 5;

/** `sweepParts` deletes the parts of large bodies that no commit used. */
export function prepareRetention(
  database: DatabaseSync,
  transaction: Transaction,
  blobs: BlobWrites,
  sweepParts: () => void,
): Sync<RetentionSweep> {
  const { one, all } = queriesOn(database);
  const ended = all<RunKey>(`select run_id as runId from runs where ended_at < ? order by ended_at ${LIMIT}`);
  const hasEnded = one('select 1 from runs where run_id = ? and tenant = ? and ended_at is not null');
  const deleteWithAll = prepareDeleteWithAll(database, blobs);
  const deleteExpired = prepareDeleteExpired(database, blobs);
  return {
    deleteEnded: (endedBefore, limit) =>
      transaction(() => {
        const endsAt = performance.now() + SWEEP_MS;
        let deleted = 0;
        for (const { runId } of ended(endedBefore, limit)) {
          deleteWithAll(runId);
          deleted++;
          if (performance.now() > endsAt) break;
        }
        return deleted;
      }),
    deleteRun: (tenant, runId) =>
      transaction(() => {
        if (!hasEnded(runId, tenant)) return false;
        deleteWithAll(runId);
        return true;
      }),
    deleteExpired(now, invocationsBefore, limit) {
      sweepParts();
      return transaction(() => deleteExpired(now, invocationsBefore, limit));
    },
  };
}

function prepareDeleteExpired(
  database: DatabaseSync,
  blobs: BlobWrites,
): Sync<RetentionSweep>['deleteExpired'] {
  const { all, run } = queriesOn(database);
  const deleteIdempotency = all<IdempotencyRecord>(`
    delete from idempotency
    where rowid in (select rowid from idempotency where expires_at <= ? order by expires_at ${LIMIT})
    returning tenant, operation, key
  `);
  const deleteEntries = all<EntryKey>(`
    delete from entries
    where rowid in (select rowid from entries where expires_at <= ? order by expires_at ${LIMIT})
    returning kind, tenant, id
  `);
  const deleteInvocations = all<InvocationRecord>(`
    delete from invocations
    where rowid in (select rowid from invocations where claimed_at < ? order by claimed_at ${LIMIT})
    returning tenant, invocation_id as invocationId
  `);
  // Keep the newest expired row, which shows that a cursor before it has missed rows
  const deleteFeed = run(`
    delete from feed
    where number in (
      select number from feed where number < (select max(number) from feed where at < ?) order by number ${LIMIT}
    )
  `);
  const deleteCounters = run(`
    delete from counters
    where (kind, tenant, id) in (
      select kind, tenant, id from counters where expires_at <= ? order by expires_at ${LIMIT}
    )
  `);
  const dropEntry = prepareDropEntry(queriesOn(database), blobs);
  return (now, invocationsBefore, limit) => {
    const records = deleteIdempotency(now, limit);
    for (const { tenant, operation, key } of records) blobs.drop(holder.idempotency(tenant, operation, key));
    const entries = deleteEntries(now, limit);
    entries.forEach(dropEntry);
    const invocations = deleteInvocations(invocationsBefore, limit);
    for (const { tenant, invocationId } of invocations) blobs.drop(holder.invocation(tenant, invocationId));
    const others = deleteFeed(now - FEED_KEPT_MS, limit) + deleteCounters(now, limit);
    return records.length + entries.length + invocations.length + others;
  };
}

/** Deletes a run with all its records. */
function prepareDeleteWithAll(database: DatabaseSync, blobs: BlobWrites): (runId: string) => void {
  const { all, run } = queriesOn(database);
  const tables = ['runs', 'events', 'snapshots', 'counters'];
  const deletions = tables.map((table) => run(`delete from ${table} where run_id = ?`));
  const deleteInvocations = all<InvocationRecord>(
    'delete from invocations where run_id = ? returning tenant, invocation_id as invocationId',
  );
  const deleteEntries = all<EntryKey>('delete from entries where run_id = ? returning kind, tenant, id');
  const dropEntry = prepareDropEntry(queriesOn(database), blobs);
  return (runId) => {
    for (const deleteFrom of deletions) deleteFrom(runId);
    for (const { tenant, invocationId } of deleteInvocations(runId))
      blobs.drop(holder.invocation(tenant, invocationId));
    deleteEntries(runId).forEach(dropEntry);
    blobs.drop(holder.run(runId));
    blobs.drop(holder.snapshot(runId));
  };
}
