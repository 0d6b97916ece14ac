/**
 * The lock on the data folder proves that no older process is alive, so a lease has no expiry here: a new one
 * ends all others, and a machine that slept keeps what it had.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { RunKey } from '../port.ts';
import { LIMIT, selectAll } from './rows.ts';
import type { Transaction } from './transaction.ts';

export function prepareLeases(database: DatabaseSync, transaction: Transaction) {
  const endAll = database.prepare('delete from leases');
  const insert = database.prepare(
    'insert into leases (process_id, acquired_at) values (?, ?) returning epoch',
  );
  const select = database.prepare('select 1 from leases where epoch = ?');
  const end = database.prepare('delete from leases where epoch = ?');
  return {
    acquire: (processId: string, now: number): number =>
      transaction(() => {
        endAll.run();
        return Number(insert.get(processId, now)?.epoch);
      }),
    renew: (epoch: number): boolean => select.get(epoch) !== undefined,
    release: (epoch: number): void => void end.run(epoch),
  };
}

export function prepareClaims(database: DatabaseSync) {
  const claimDue = database.prepare(`
    update runs set owner = ?
    where run_id in (
      select run_id from runs
      where owner is null and wake_at is not null and wake_at <= ?
      order by wake_at, run_id
      ${LIMIT}
    )
    returning tenant, run_id as runId, wake_at as wakeAt
  `);
  const claimOrphans = database.prepare(`
    update runs set owner = ?
    where run_id in (
      select run_id from runs
      where ended_at is null and owner is not null and not exists (select 1 from leases where leases.epoch = runs.owner)
      ${LIMIT}
    )
    returning tenant, run_id as runId
  `);
  return {
    claimDue: (epoch: number, now: number, limit: number): RunKey[] =>
      selectAll<RunKey & { wakeAt: number }>(claimDue, epoch, now, limit)
        .sort((a, b) => a.wakeAt - b.wakeAt || (a.runId < b.runId ? -1 : 1))
        .map(({ tenant, runId }) => ({ tenant, runId })),
    claimOrphans: (epoch: number, limit: number): RunKey[] => selectAll<RunKey>(claimOrphans, epoch, limit),
  };
}
