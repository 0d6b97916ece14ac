/**
 * Several processes share the database: a lease lives until `expires_at`, judged by the caller's clock. Then others may
 * take the runs of it, one by one; it can still be renewed, for those that nobody took (the database was away, or the
 * machine slept). Who lost a run hears of it at the next commit of that run.
 */
import type { Leases, RunKey } from '../port.ts';
import type { Sql } from './sql.ts';

export const leases = (sql: Sql): Leases => ({
  acquire: (processId, now, ttlMs) => acquire(sql, processId, now + ttlMs),
  async renew(epoch, now, ttlMs) {
    const { count } = await sql`update leases set expires_at = ${now + ttlMs} where epoch = ${epoch}`;
    return count === 1;
  },
  async release(epoch) {
    await sql`delete from leases where epoch = ${epoch}`;
  },
  claimDue: (epoch, now, limit) => claimDue(sql, epoch, now, limit),
  claimOrphans: (epoch, now, limit) => claimOrphans(sql, epoch, now, limit),
  async nextWakeAt() {
    const [found] = await sql<{ wakeAt: number | null }[]>`
      select min(wake_at) as "wakeAt" from runs where owner is null and wake_at is not null
    `;
    return found?.wakeAt ?? null;
  },
});

async function acquire(sql: Sql, processId: string, expiresAt: number): Promise<number> {
  const [lease] = await sql<[{ epoch: number }]>`
    insert into leases (process_id, expires_at) values (${processId}, ${expiresAt}) returning epoch
  `;
  return lease.epoch;
}

async function claimDue(sql: Sql, epoch: number, now: number, limit: number): Promise<RunKey[]> {
  const claimed = await sql<(RunKey & { wakeAt: number })[]>`
    with due as (
      select run_id from runs
      where owner is null and wake_at is not null and wake_at <= ${now}
      order by wake_at, run_id
      limit ${limit}
      for update skip locked
    )
    update runs set owner = ${epoch}
    from due
    where runs.run_id = due.run_id
    returning runs.tenant, runs.run_id as "runId", runs.wake_at as "wakeAt"
  `;
  return claimed
    .sort((a, b) => a.wakeAt - b.wakeAt || (a.runId < b.runId ? -1 : 1))
    .map(({ tenant, runId }) => ({ tenant, runId }));
}

async function claimOrphans(sql: Sql, epoch: number, now: number, limit: number): Promise<RunKey[]> {
  const claimed = await sql<RunKey[]>`
    with orphans as (
      select run_id from runs
      where owner is not null
        and not exists (select 1 from leases where leases.epoch = runs.owner and leases.expires_at > ${now})
      limit ${limit}
      for update skip locked
    )
    update runs set owner = ${epoch}
    from orphans
    where runs.run_id = orphans.run_id
    returning runs.tenant, runs.run_id as "runId"
  `;
  return [...claimed];
}
