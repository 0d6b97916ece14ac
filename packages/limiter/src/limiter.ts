/**
 * Limits concurrent use of a resource, fairly between tenants. Pure except for its clock.
 *
 * I1 The total weight in use is at most `max`, that of one tenant at most `perTenantMax`, except for `hold`.
 * I2 The tenant that holds least is served first; tenants that hold the same take turns; within a tenant the order is
 *    that of arrival.
 * I3 A waiter whose tenant is at its own maximum does not block others. Any other waiter at the front is not
 *    overtaken, so a heavy one gets its turn.
 * I4 A slot that was released, abandoned or refused leaves no state behind.
 *
 * ```ts
 * const lookups = limiter({ max: 32, perTenantMax: 4, waitMs: 5_000 });
 * const addresses = await lookups.run(tenant, () => resolve(name), { signal });
 * ```
 */
export interface LimiterOptions {
  /** Total weight in use at once. */
  readonly max: number;
  /** The part of it that one tenant may hold. Default: all of it. */
  readonly perTenantMax?: number;
  /** How long to wait for a slot. Default: no limit. */
  readonly waitMs?: number;
  /** How many acquisitions of one tenant may wait. Default: no limit. */
  readonly waitingPerTenantMax?: number;
  readonly clock?: LimiterClock;
}

export interface LimiterClock {
  /** Calls `run` once, `ms` from now. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

export interface AcquireOptions {
  /** Default: 1. */
  readonly weight?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Releases a slot. Further calls have no effect. */
export type Release = () => void;

export interface Limiter {
  /** Rejects with `LimiterError`, or with the reason of `signal`. */
  acquire(tenant: string, options?: AcquireOptions): Promise<Release>;
  /** Never waits: undefined if there is no free slot. */
  tryAcquire(tenant: string, weight?: number): Release | undefined;
  /** Succeeds even without free capacity. The part above the tenant's maximum does not count against other tenants. */
  hold(tenant: string, weight: number): Release;
  /** Holds a slot while `work` runs. */
  run<T>(tenant: string, work: () => T | Promise<T>, options?: AcquireOptions): Promise<T>;
  stats(): LimiterStats;
  /** Refuses all current and later waiters. Held slots stay held until they are released. */
  close(): void;
}

export interface LimiterStats {
  /** At most the maximum of each tenant is counted. */
  readonly held: number;
  readonly waiting: number;
}

export type LimiterReason = 'timeout' | 'queue-full' | 'too-heavy' | 'closed';

const MESSAGES: Record<LimiterReason, string> = {
  timeout: 'No slot became free in time; try again later.',
  'queue-full': 'Too many requests of this tenant are waiting already; try again later.',
  'too-heavy': 'This call needs more than the limit.',
  closed: 'The limiter is closed.',
};

export class LimiterError extends Error {
  readonly reason: LimiterReason;

  constructor(reason: LimiterReason) {
    super(MESSAGES[reason]);
    this.name = 'LimiterError';
    this.reason = reason;
  }
}

interface Waiter {
  readonly tenant: string;
  readonly weight: number;
  readonly grant: () => void;
  readonly refuse: (reason: unknown) => void;
}

const systemClock: LimiterClock = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export function limiter(options: LimiterOptions): Limiter {
  return new FairLimiter(options);
}

class FairLimiter implements Limiter {
  readonly #max: number;
  readonly #perTenantMax: number;
  readonly #waitMs: number | undefined;
  readonly #waitingPerTenantMax: number;
  readonly #clock: LimiterClock;
  readonly #heldBy = new Map<string, number>();
  /** The queue of each tenant, in the order of their turns. A tenant without a waiter has no queue. */
  readonly #lines = new Map<string, Set<Waiter>>();
  #held = 0;
  #waiting = 0;
  #isClosed = false;

  constructor({ max, perTenantMax = max, waitMs, waitingPerTenantMax, clock }: LimiterOptions) {
    this.#max = max;
    this.#perTenantMax = Math.min(perTenantMax, max);
    this.#waitMs = waitMs;
    this.#waitingPerTenantMax = waitingPerTenantMax ?? Number.POSITIVE_INFINITY;
    this.#clock = clock ?? systemClock;
  }

  async acquire(tenant: string, { weight = 1, signal }: AcquireOptions = {}): Promise<Release> {
    signal?.throwIfAborted();
    return this.tryAcquire(tenant, weight) ?? this.#wait(tenant, weight, signal);
  }

  tryAcquire(tenant: string, weight = 1): Release | undefined {
    this.#check(weight);
    let isGranted = false;
    const grant = (): void => {
      isGranted = true;
    };
    // Uses the queue, so that one rule decides whose turn it is
    const waiter: Waiter = { tenant, weight, grant, refuse: () => {} };
    this.#enqueue(waiter);
    this.#admit();
    if (isGranted) return this.#releaseOnce(waiter);
    this.#leave(waiter);
    return undefined;
  }

  hold(tenant: string, weight: number): Release {
    this.#hold(tenant, weight);
    return this.#releaseOnce({ tenant, weight });
  }

  async run<T>(tenant: string, work: () => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    const release = await this.acquire(tenant, options);
    try {
      return await work();
    } finally {
      release();
    }
  }

  stats(): LimiterStats {
    return { held: this.#held, waiting: this.#waiting };
  }

  close(): void {
    this.#isClosed = true;
    const waiters = [...this.#lines.values()].flatMap((line) => [...line]);
    for (const waiter of waiters) waiter.refuse(new LimiterError('closed'));
  }

  async #wait(tenant: string, weight: number, signal: AbortSignal | undefined): Promise<Release> {
    const own = this.#lines.get(tenant);
    if (own && own.size >= this.#waitingPerTenantMax) throw new LimiterError('queue-full');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const refuse = (reason: unknown): void => {
      if (!this.#leave(waiter)) return;
      reject(reason);
      // The next waiter may be lighter
      this.#admit();
    };
    const waiter: Waiter = { tenant, weight, grant: resolve, refuse };
    const abort = (): void => refuse(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const cancel =
      this.#waitMs === undefined
        ? undefined
        : this.#clock.after(this.#waitMs, () => refuse(new LimiterError('timeout')));
    this.#enqueue(waiter);
    try {
      await promise;
    } finally {
      cancel?.();
      signal?.removeEventListener('abort', abort);
    }
    return this.#releaseOnce(waiter);
  }

  #check(weight: number): void {
    if (this.#isClosed) throw new LimiterError('closed');
    if (weight > this.#perTenantMax) throw new LimiterError('too-heavy');
  }

  #enqueue(waiter: Waiter): void {
    const line = this.#lines.get(waiter.tenant);
    if (line) line.add(waiter);
    else this.#lines.set(waiter.tenant, new Set([waiter]));
    this.#waiting += 1;
  }

  /** False if it was no longer waiting. */
  #leave(waiter: Waiter): boolean {
    const line = this.#lines.get(waiter.tenant);
    if (!line?.delete(waiter)) return false;
    if (line.size === 0) this.#lines.delete(waiter.tenant);
    this.#waiting -= 1;
    return true;
  }

  /** I1 and I3. */
  #admit(): void {
    for (let next = this.#next(); next && this.#held + next.weight <= this.#max; next = this.#next()) {
      this.#leave(next);
      this.#moveToEnd(next.tenant);
      this.#hold(next.tenant, next.weight);
      next.grant();
    }
  }

  /** I2: the first waiter of the tenant that holds least, among tenants below their maximum. */
  #next(): Waiter | undefined {
    let next: Waiter | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [tenant, line] of this.#lines) {
      const held = this.#heldBy.get(tenant) ?? 0;
      if (held >= least) continue;
      const [first] = line;
      if (!first || held + first.weight > this.#perTenantMax) continue;
      next = first;
      least = held;
      if (held === 0) break;
    }
    return next;
  }

  #moveToEnd(tenant: string): void {
    const line = this.#lines.get(tenant);
    if (!line) return;
    this.#lines.delete(tenant);
    this.#lines.set(tenant, line);
  }

  #hold(tenant: string, weight: number): void {
    const before = this.#heldBy.get(tenant) ?? 0;
    const held = before + weight;
    if (held === 0) this.#heldBy.delete(tenant);
    else this.#heldBy.set(tenant, held);
    this.#held += Math.min(held, this.#perTenantMax) - Math.min(before, this.#perTenantMax);
  }

  /** I4. */
  #releaseOnce({ tenant, weight }: Pick<Waiter, 'tenant' | 'weight'>): Release {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#hold(tenant, -weight);
      this.#admit();
    };
  }
}
