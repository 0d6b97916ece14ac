/**
 * Schedules short synchronous work of tenants on one thread. Any number of pieces may be requested at once.
 *
 * I1 In one round of the event loop, work starts for at most `roundMs` in all, and `tenantMs` for each tenant. The
 *    rest waits for a later round, so that connections, timers and answers of threads are served in between.
 * I2 Waiting tenants take turns, one piece of work each.
 * I3 If no work of the tenant waits and the round has time left, work runs at once, without a promise.
 * I4 One piece of work can exceed the time of its tenant. With `restAfterMs`, a tenant that exceeded its time by
 *    more than that waits `REST_FACTOR` times the excess, so the thread is free for others most of the time.
 */
export interface TurnsOptions {
  readonly roundMs?: number;
  /** Default: `roundMs`. */
  readonly tenantMs?: number;
  /** Default: no tenant rests. */
  readonly restAfterMs?: number;
  readonly clock?: TurnsClock;
}

export interface TurnsClock {
  nowMs(): number;
  /** Calls `run` in the next round of the event loop. */
  nextRound(run: () => void): void;
}

interface Account {
  spentMs: number;
  isResting: boolean;
  readonly waiting: (() => void)[];
}

const ROUND_MS = 4;
const REST_FACTOR = 4;
const REST_MS_MAX = 2_000;

const systemClock: TurnsClock = {
  nowMs: () => performance.now(),
  nextRound: (run) => void setImmediate(run),
};

export const createTurns = (options: TurnsOptions = {}): Turns => new Turns(options);

export class Turns {
  readonly #roundMs: number;
  readonly #tenantMs: number;
  readonly #restAfterMs: number;
  readonly #clock: TurnsClock;
  /** Tenants that used time in this round, rest or wait; in the order of their turns. */
  readonly #accounts = new Map<string, Account>();
  #spentMs = 0;
  #isRoundEnding = false;
  #isWorking = false;

  constructor({ roundMs = ROUND_MS, tenantMs = roundMs, restAfterMs, clock = systemClock }: TurnsOptions) {
    this.#roundMs = roundMs;
    this.#tenantMs = tenantMs;
    this.#restAfterMs = restAfterMs ?? Number.POSITIVE_INFINITY;
    this.#clock = clock;
  }

  /** Runs the synchronous `work` now or in the tenant's turn. Its errors are passed to the caller as usual. */
  take<T>(tenant: string, work: () => T): T | Promise<Awaited<T>> {
    // A nested call belongs to the same turn.
    if (this.#isWorking) return work();
    if (this.isFree(tenant)) return this.#perform(tenant, work);
    return new Promise((resolve, reject) => {
      this.wait(tenant, () => {
        try {
          resolve(this.#perform(tenant, work) as Awaited<T>);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  isFree(tenant: string): boolean {
    const account = this.#accounts.get(tenant);
    return !account?.isResting && !account?.waiting.length && this.#hasTime(account);
  }

  /** Accounts for work that `take` does not measure. */
  spend(tenant: string, ms: number): void {
    this.#account(tenant).spentMs += ms;
    this.#spentMs += ms;
    this.#endRoundLater();
  }

  /** `run` is called in a later round. */
  wait(tenant: string, run: () => void): void {
    this.#account(tenant).waiting.push(run);
    this.#endRoundLater();
  }

  #perform<T>(tenant: string, work: () => T): T {
    const startedAt = this.#clock.nowMs();
    this.#isWorking = true;
    try {
      return work();
    } finally {
      this.#isWorking = false;
      this.spend(tenant, this.#clock.nowMs() - startedAt);
    }
  }

  #hasTime(account: Account | undefined): boolean {
    return this.#spentMs < this.#roundMs && (account?.spentMs ?? 0) < this.#tenantMs;
  }

  #account(tenant: string): Account {
    const found = this.#accounts.get(tenant);
    if (found) return found;
    const account = { spentMs: 0, isResting: false, waiting: [] };
    this.#accounts.set(tenant, account);
    return account;
  }

  #endRoundLater(): void {
    if (this.#isRoundEnding) return;
    this.#isRoundEnding = true;
    this.#clock.nextRound(this.#beginRound);
  }

  readonly #beginRound = (): void => {
    this.#isRoundEnding = false;
    this.#spentMs = 0;
    for (const [tenant, account] of this.#accounts) this.#settle(tenant, account);
    if (this.#accounts.size > 0) this.#serveWaiting();
  };

  #serveWaiting(): void {
    // Work requested meanwhile waits for the next round
    const awake = [...this.#accounts].filter(([, { isResting }]) => !isResting);
    const lines = awake.map(([tenant, account]) => ({ tenant, account, waiting: account.waiting.splice(0) }));
    for (const line of lines) {
      const { tenant, account, waiting } = line;
      const run = this.#hasTime(account) ? waiting.shift() : undefined;
      if (!run) continue;
      // I2: after the others, in this round and in the next
      lines.push(line);
      this.#accounts.delete(tenant);
      this.#accounts.set(tenant, account);
      run();
    }
    for (const { account, waiting } of lines) account.waiting.unshift(...waiting.splice(0));
    if (awake.some(([, { waiting }]) => waiting.length > 0)) this.#endRoundLater();
  }

  /** I4. */
  #settle(tenant: string, account: Account): void {
    if (account.isResting) return;
    const excessMs = account.spentMs - this.#tenantMs;
    account.spentMs = 0;
    if (excessMs > this.#restAfterMs) {
      account.isResting = true;
      const rested = (): void => {
        account.isResting = false;
        this.#endRoundLater();
      };
      setTimeout(rested, Math.min(excessMs * REST_FACTOR, REST_MS_MAX)).unref();
    } else if (account.waiting.length === 0) this.#accounts.delete(tenant);
  }
}
