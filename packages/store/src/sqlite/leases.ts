/**
 * The lock on the data folder proves that no older process is alive, so a lease does not expire here. A new lease
 * ends all others, and a process keeps its lease while the machine sleeps.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Leases, RunKey } from '../port.ts';
import type { Sync } from './channel.ts';
import { LIMIT, queriesOn } from './rows.ts';
import type { Transaction } from './transaction.ts';

export function prepareLeases(
  database: DatabaseSync,
  transaction: Transaction,
): Sync<Omit<Leases, 'owned' | 'nextWakeAt'>> {
  const { one, all, run } = queriesOn(database);
  const endAll = run('delete from leases');
  const insert = one<{ epoch: number }>(
    'insert into leases (process_id, acquired_at) values (?, ?) returning epoch',
  );
  const lease = one('select 1 from leases where epoch = ?');
  const end = run('delete from leases where epoch = ?');
  const claimDue = all<RunKey & { wakeAt: number }>(`
    update runs set owner = ?
    where run_id in (
      select run_id from runs
      where owner is null and wake_at is not null and wake_at <= ?
      order by wake_at, run_id
      ${LIMIT}
    )
    returning tenant, run_id as runId, wake_at as wakeAt
  `);
  const claimOrphans = all<RunKey>(`
    update runs set owner = ?
    where run_id in (
      select run_id from runs
      where ended_at is null and owner is not null and not exists (select 1 from leases where leases.epoch = runs.owner)
      ${LIMIT}
    )
    returning tenant, run_id as runId
  `);
  return {
    acquire: (processId, now) =>
      transaction(() => {
        endAll();
        return insert(processId, now)!.epoch;
      }),
    renew: (epoch) => lease(epoch) !== null,
    release: (epoch) => void end(epoch),
    claimDue: (epoch, now, limit) =>
      claimDue(epoch, now, limit)
        .sort((a, b) => a.wakeAt - b.wakeAt || (a.runId < b.runId ? -1 : 1))
        .map(({ tenant, runId }) => ({ tenant, runId })),
    claimOrphans: (epoch, _now, limit) => claimOrphans(epoch, limit),
  };
}
