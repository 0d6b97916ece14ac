/**
 * Detects processes that ended without releasing their lease. A live process holds its lock and renews its lease. A
 * process whose lock is free and whose lease is not renewed in time has ended: its lease ends, and its runs can be
 * claimed at once. Machines that become unreachable are left to the lease expiry, since the server keeps the lock
 * of such a session for a long time.
 *
 * I1  One free lock proves nothing: the process may be reconnecting. The lock must be free again after `GRACE_MS`,
 *     when the next renewal of the lease was due and has not come, as seen by a process that had its own connection
 *     all the time.
 * I2  Changes that an ended process did not announce are unknown, so watchers check everything.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LOOK_AT_EVERYTHING } from './notices.ts';
import { LOCK_CLASS, LOCK_KEYS, type Presence } from './presence.ts';
import type { Sql } from './sql.ts';

const GRACE_MS = 1_500;
/** A lease is renewed after a third of its time. */
const RENEWALS_PER_TTL = 3;
const LATE_MS = 500;
/** Leases that ended earlier are ignored. */
const RECENT_MS = 60_000;

interface Absent {
  readonly epoch: number;
  readonly expiresAt: number;
}

interface OwnLease {
  readonly epoch: number;
  readonly now: number;
  readonly ttlMs: number;
}

function msUntilLate({ expiresAt }: Absent, { now, ttlMs }: OwnLease): number {
  const renewedAt = expiresAt - ttlMs;
  return Math.min(renewedAt + ttlMs / RENEWALS_PER_TTL + LATE_MS - now, ttlMs / 2);
}

export class Peers {
  readonly #sql: Sql;
  readonly #presence: Presence;
  readonly #ended = new Set<number>();

  constructor(sql: Sql, presence: Presence) {
    this.#sql = sql;
    this.#presence = presence;
  }

  async endLeases(own: OwnLease): Promise<void> {
    const { generation } = this.#presence;
    const suspects = await this.#absent(own);
    if (suspects.length === 0) return;
    await sleep(Math.max(GRACE_MS, ...suspects.map((suspect) => msUntilLate(suspect, own))));
    const still = await this.#absent(own);
    if (this.#presence.generation !== generation) return;
    const ended = suspects.filter(({ epoch, expiresAt }) =>
      still.some((each) => each.epoch === epoch && each.expiresAt === expiresAt),
    );
    for (const each of ended) await this.#end(each, own.now);
    if (ended.length > 0) this.#presence.tell(LOOK_AT_EVERYTHING);
  }

  async #end({ epoch, expiresAt }: Absent, now: number): Promise<void> {
    await this.#sql`
      update leases set expires_at = least(expires_at, ${now}) where epoch = ${epoch} and expires_at = ${expiresAt}
    `;
    this.#ended.add(epoch);
  }

  async #absent(own: OwnLease): Promise<Absent[]> {
    const absent = await this.#sql<Absent[]>`
      select epoch, expires_at as "expiresAt" from leases
      where epoch <> ${own.epoch} and expires_at > ${own.now - RECENT_MS} and not exists (
        select 1 from pg_locks
        where locktype = 'advisory' and classid = ${LOCK_CLASS} and objsubid = 2 and granted
          and objid = (leases.epoch % ${LOCK_KEYS})::oid
          and database = (select oid from pg_database where datname = current_database())
      )
    `;
    return absent.filter(({ epoch }) => !this.#ended.has(epoch));
  }
}
