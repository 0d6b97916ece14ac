/**
 * Several processes share the database. A lease lives until `expires_at`, in database time. After that, other
 * processes may claim its runs one by one. It can still be renewed for the runs that were not claimed (the database
 * was unreachable, or the machine slept). A process that lost a run notices at its next commit of that run.
 */
import type { Driver } from '@gantry/postgres';
import type { Leases, RunKey } from '../port.ts';
import { type DatabaseClock, databaseMs } from './clock.ts';
import { CHANNEL, emptyNotice } from './notices.ts';
import { Peers } from './peers.ts';
import type { Presence } from './presence.ts';
import type { Sql } from './sql.ts';

export interface LeaseParts {
  readonly sql: Sql;
  readonly processId: string;
  readonly clock: DatabaseClock;
  readonly presence: Presence;
}

/** A connection that was idle for this long at a renewal must prove that it is alive. */
const PROBE = { idleMs: 5_000, timeoutMs: 3_000 };

export const leases = (parts: LeaseParts): Leases => {
  const { sql, presence } = parts;
  const peers = new Peers(sql, presence);
  return {
    async acquire(processId, now, ttlMs) {
      const epoch = await acquire(sql, processId, now + ttlMs);
      await presence.hold(epoch);
      return epoch;
    },
    async renew(epoch, now, ttlMs) {
      const isRenewed = await renew(parts, epoch, now + ttlMs);
      if (!isRenewed) return false;
      await sql.probe(PROBE);
      // The lease is renewed anyway; the next renewal checks again
      await peers.endLeases({ epoch, now, ttlMs }).catch(() => {});
      return true;
    },
    async release(epoch) {
      await sql`delete from leases where epoch = ${epoch}`;
      await presence.release(epoch);
    },
    claimDue: (epoch, now, limit) => claimDue(sql, epoch, now, limit),
    claimOrphans: (epoch, now, limit) => claimOrphans(sql, epoch, now, limit),
    owned: (epoch, limit, afterRunId) => owned(sql, epoch, limit, afterRunId),
    async nextWakeAt() {
      const [found] = await sql<{ wakeAt: number | null }[]>`
        select min(wake_at) as "wakeAt" from runs where owner is null and wake_at is not null
      `;
      return found?.wakeAt ?? null;
    },
  };
};

export async function countProcesses(sql: Sql, now: number): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*)::integer as count from leases where expires_at > ${now}
  `;
  return count;
}

/**
 * One statement for the lease, the notice that our own connection must receive, and the database time. It does not
 * queue behind other statements: if their connections hang, the lease would expire and others would take over live
 * work.
 */
async function renew(parts: LeaseParts, epoch: number, expiresAt: number): Promise<boolean> {
  const { sql, processId, clock, presence } = parts;
  presence.expectNotice();
  try {
    const ask = async (own: Driver) => {
      const [renewed] = await own<[{ count: number; databaseMs: number }]>`
        with renewed as (update leases set expires_at = ${expiresAt} where epoch = ${epoch} returning 1)
        select (select count(*) from renewed) as count, ${databaseMs(own)},
          pg_notify(${CHANNEL}, ${emptyNotice(processId)})
      `;
      return renewed;
    };
    const { count } = await sql.promptly((own) => clock.sync(() => ask(own)));
    return count === 1;
  } catch (error) {
    presence.noticeFailed();
    throw error;
  }
}

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

async function owned(sql: Sql, epoch: number, limit: number, afterRunId = ''): Promise<RunKey[]> {
  const found = await sql<RunKey[]>`
    select tenant, run_id as "runId"
    from runs
    where owner = ${epoch} and run_id > ${afterRunId}
    order by run_id
    limit ${limit}
  `;
  return [...found];
}
