import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { holder } from '../blob.ts';
import { type EntryKey, FEED_KEPT_MS, type IdempotencyRecord, type InvocationRecord } from '../port.ts';
import type { BlobWrites } from './blobs.ts';
import { LIMIT, selectAll } from './rows.ts';
import type { Transaction } from './transaction.ts';
import { prepareDropEntry } from './write/entries.ts';

type InvocationKey = Pick<InvocationRecord, 'tenant' | 'invocationId'>;
type IdempotencyKey = Pick<IdempotencyRecord, 'tenant' | 'operation' | 'key'>;

export function prepareRetention(database: DatabaseSync, transaction: Transaction, blobs: BlobWrites) {
  const selectEnded = database.prepare(`
    select run_id as runId from runs where ended_at < ? order by ended_at ${LIMIT}
  `);
  const selectOne = database.prepare(
    'select 1 from runs where run_id = ? and tenant = ? and ended_at is not null',
  );
  const deleteOldInvocations = database.prepare(`
    delete from invocations
    where rowid in (select rowid from invocations where claimed_at < ? order by claimed_at ${LIMIT})
    returning tenant, invocation_id as invocationId
  `);
  const deleteExpiredIdempotency = database.prepare(`
    delete from idempotency
    where rowid in (select rowid from idempotency where expires_at <= ? order by expires_at ${LIMIT})
    returning tenant, operation, key
  `);
  const deleteExpiredEntries = database.prepare(`
    delete from entries
    where rowid in (select rowid from entries where expires_at <= ? order by expires_at ${LIMIT})
    returning kind, tenant, id
  `);
  const deleteOldCounters = prepareDeleteCounters(database);
  const deleteOldFeed = prepareDeleteOldFeed(database);
  const dropEntry = prepareDropEntry(database, blobs);
  const deleteWithAll = prepareDeleteWithAll(database, blobs);
  return {
    deleteEnded: (endedBefore: number, limit: number): number =>
      transaction(() => {
        const ended = selectAll<{ runId: string }>(selectEnded, endedBefore, limit);
        for (const { runId } of ended) deleteWithAll(runId);
        return ended.length;
      }),
    deleteRun: (tenant: string, runId: string): boolean =>
      transaction(() => {
        if (!selectOne.get(runId, tenant)) return false;
        deleteWithAll(runId);
        return true;
      }),
    deleteExpired: (now: number, invocationsBefore: number, limit: number): number =>
      transaction(() => {
        const expired = selectAll<IdempotencyKey>(deleteExpiredIdempotency, now, limit);
        for (const { tenant, operation, key } of expired)
          blobs.drop(holder.idempotency(tenant, operation, key));
        const entries = selectAll<EntryKey>(deleteExpiredEntries, now, limit);
        for (const key of entries) dropEntry(key);
        const invocations = deleteInvocations(blobs, deleteOldInvocations, invocationsBefore, limit);
        const fed = Number(deleteOldFeed.run(now - FEED_KEPT_MS, limit).changes);
        const counted = Number(deleteOldCounters.run(now, limit).changes);
        return expired.length + entries.length + invocations + fed + counted;
      }),
  };
}

/** A run with all that hangs on it. */
function prepareDeleteWithAll(database: DatabaseSync, blobs: BlobWrites): (runId: string) => void {
  const ofRun = ['runs', 'events', 'snapshots', 'counters'].map((table) =>
    database.prepare(`delete from ${table} where run_id = ?`),
  );
  const invocationsOfRun = database.prepare(`
    delete from invocations where run_id = ? returning tenant, invocation_id as invocationId
  `);
  const entriesOfRun = database.prepare('delete from entries where run_id = ? returning kind, tenant, id');
  const dropEntry = prepareDropEntry(database, blobs);
  return (runId) => {
    for (const statement of ofRun) statement.run(runId);
    deleteInvocations(blobs, invocationsOfRun, runId);
    for (const key of selectAll<EntryKey>(entriesOfRun, runId)) dropEntry(key);
    blobs.drop(holder.run(runId));
    blobs.drop(holder.snapshot(runId));
  };
}

function deleteInvocations(blobs: BlobWrites, statement: StatementSync, ...of: SQLInputValue[]): number {
  const deleted = selectAll<InvocationKey>(statement, ...of);
  for (const { tenant, invocationId } of deleted) blobs.drop(holder.invocation(tenant, invocationId));
  return deleted.length;
}

/** The newest row past its time stays, so that a cursor before it is known to have missed something. */
const prepareDeleteOldFeed = (database: DatabaseSync): StatementSync =>
  database.prepare(`
    delete from feed
    where number in (
      select number from feed where number < (select max(number) from feed where at < ?) order by number ${LIMIT}
    )
  `);

const prepareDeleteCounters = (database: DatabaseSync): StatementSync =>
  database.prepare(`
    delete from counters
    where (kind, tenant, id) in (
      select kind, tenant, id from counters where expires_at <= ? order by expires_at ${LIMIT}
    )
  `);
