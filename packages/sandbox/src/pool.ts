/**
 * Warm processes, bounded in number; the one that was idle longest is evicted first.
 *
 * I1 There are never more than `warmMax` processes, including those that are ending.
 * I2 An exclusive use has its process to itself from start to end.
 * I3 No waiter starves: one that has waited long is not overtaken.
 * I4 One tenant never has more than `shareMax` busy processes. When processes are scarce, the tenant with the
 *    fewest is served first, and tenants with equal numbers take turns: a new tenant waits for running work to
 *    end, not for the whole queue of another tenant.
 * I5 Few processes of one tenant start at once: a start uses a whole core for a moment.
 */
const INVOCATIONS_PER_PROCESS_MAX = 64;
/** A process that was idle this long is stopped (SIGSTOP) until its next use. */
const SLEEP_AFTER_MS = 1_000;
const STARTING_MAX = 2;
/** A new invocation may join a process in use while others wait for one, but not longer than this. */
const OVERTAKEN_MS_MAX = 1_000;

/** The interface that the pool requires of a process. */
export interface Pooled {
  /** Ended or ending: accepts no new work. */
  readonly isDead: boolean;
  /** Resolves when it is usable, or never will be. */
  readonly opened: Promise<unknown>;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  kill(): void;
  /** Frees unneeded memory, then is stopped until it is woken. */
  sleep(): void;
  wake(): void;
}

/**
 * `shared`: in a warm process together with other shared uses. `exclusive`: in a warm process, alone during the
 * use. `alone`: in a separate process that ends after use.
 */
export type Use = 'shared' | 'exclusive' | 'alone';

type State =
  | { readonly kind: 'idle'; readonly since: number; readonly isAsleep: boolean }
  | { readonly kind: 'shared'; readonly by: number }
  | { readonly kind: 'exclusive' };

interface Entry<P extends Pooled = Pooled> {
  readonly process: P;
  /** `undefined` for a process that ends after its first use. */
  readonly key: string | undefined;
  readonly tenant: string;
  state: State;
}

export interface PoolOptions {
  readonly warmMax: number;
  readonly shareMax: number;
  readonly idleMs: number;
  readonly now: () => number;
}

export interface PoolStats {
  readonly warm: number;
  readonly busy: number;
  readonly asleep: number;
  /** Invocations that wait for a process. */
  readonly waiting: number;
  /** Processes that were started so far. */
  readonly started: number;
}

/** How to start a process, and the key under which it may be reused. */
export interface Wanted<P extends Pooled> {
  readonly key: string;
  readonly tenant: string;
  readonly use: Use;
  readonly signal?: AbortSignal | undefined;
  start(onEnd: () => void): P;
}

interface Waiter<P extends Pooled> {
  readonly since: number;
  readonly wanted: Wanted<P>;
  readonly entry: PromiseWithResolvers<Entry<P>>;
}

const idleSince = (since: number): State => ({ kind: 'idle', since, isAsleep: false });

const isIdle = ({ state, process }: Entry): boolean => state.kind === 'idle' && !process.isDead;

/** In use, and able to accept another invocation. */
const isOpen = ({ state, process }: Entry): boolean =>
  state.kind === 'shared' && state.by < INVOCATIONS_PER_PROCESS_MAX && !process.isDead;

function take<P extends Pooled>(entry: Entry<P>, use: Use): Entry<P> {
  const { state, process } = entry;
  if (state.kind === 'idle' && state.isAsleep) process.wake();
  if (use === 'shared') entry.state = { kind: 'shared', by: state.kind === 'shared' ? state.by + 1 : 1 };
  else entry.state = { kind: 'exclusive' };
  return entry;
}

function release(entry: Entry, now: number): void {
  const { state } = entry;
  const isShared = state.kind === 'shared' && state.by > 1;
  entry.state = isShared ? { kind: 'shared', by: state.by - 1 } : idleSince(now);
  if (entry.key === undefined) entry.process.kill();
}

const stopped = (): Error => new Error('The sandbox is stopped.');

export class Pool<P extends Pooled> {
  readonly #options: PoolOptions;
  readonly #entries = new Set<Entry<P>>();
  /**
   * By tenant in the order of turns, within a tenant in the order of arrival. Tenants without waiters have no entry.
   */
  readonly #waiting = new Map<string, Set<Waiter<P>>>();
  readonly #sweep: NodeJS.Timeout;
  readonly #starting = new Map<string, number>();
  #started = 0;
  #isStopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#evictIdle(), Math.min(options.idleMs, SLEEP_AFTER_MS));
    this.#sweep.unref();
  }

  /** Runs `work` with a process. Waits while all `warmMax` processes are busy. */
  async use<T>(wanted: Wanted<P>, work: (process: P) => Promise<T>): Promise<T> {
    const entry = await this.#acquire(wanted);
    try {
      return await work(entry.process);
    } finally {
      release(entry, this.#options.now());
      this.#serve();
    }
  }

  stats(): PoolStats {
    const entries = [...this.#entries];
    return {
      warm: entries.length,
      busy: entries.filter(({ state }) => state.kind !== 'idle').length,
      asleep: entries.filter(({ state }) => state.kind === 'idle' && state.isAsleep).length,
      waiting: this.#waiters().length,
      started: this.#started,
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#sweep);
    const gone = [...this.#entries].map(({ process }) => process.ended);
    for (const { process } of this.#entries) process.kill();
    for (const { entry } of this.#waiters()) entry.reject(stopped());
    this.#waiting.clear();
    await Promise.all(gone);
  }

  async #acquire(wanted: Wanted<P>): Promise<Entry<P>> {
    const { signal } = wanted;
    signal?.throwIfAborted();
    if (this.#isStopped) throw stopped();
    const entry = Promise.withResolvers<Entry<P>>();
    const waiter: Waiter<P> = { wanted, since: this.#options.now(), entry };
    const giveUp = (): void => {
      if (!this.#leave(waiter)) return;
      entry.reject(signal?.reason);
      this.#serve();
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    const own = this.#waiting.get(wanted.tenant) ?? new Set();
    this.#waiting.set(wanted.tenant, own.add(waiter));
    this.#serve();
    return entry.promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  #waiters(): Waiter<P>[] {
    return [...this.#waiting.values()].flatMap((own) => [...own]);
  }

  /** False when it was no longer waiting. */
  #leave(waiter: Waiter<P>): boolean {
    const { tenant } = waiter.wanted;
    const own = this.#waiting.get(tenant);
    if (own?.size === 1 && own.has(waiter)) this.#waiting.delete(tenant);
    return own?.delete(waiter) ?? false;
  }

  /** Serves waiters one by one, as long as processes are available. */
  #serve(): void {
    while (!this.#isStopped && this.#serveNext());
  }

  #serveNext(): boolean {
    const present = [...this.#entries].filter((entry) => isIdle(entry) || isOpen(entry));
    const keys = new Set(present.map(({ key }) => key));
    const tenants = [...this.#waiting].map(([tenant, waiters]) => ({ waiters, busy: this.#busy(tenant) }));
    for (const { waiters } of tenants.sort((a, b) => a.busy - b.busy)) {
      const [first] = waiters;
      // The waiters behind the first of a tenant can only use processes that already exist
      for (const waiter of waiters)
        if ((waiter === first || keys.has(waiter.wanted.key)) && this.#serveOne(waiter)) return true;
    }
    return false;
  }

  #serveOne(waiter: Waiter<P>): boolean {
    const { wanted, entry } = waiter;
    try {
      const found = this.#joined(waiter) ?? this.#own(wanted);
      if (!found) return false;
      this.#leave(waiter);
      this.#moveToEnd(wanted.tenant);
      entry.resolve(take(found, wanted.use));
    } catch (error) {
      // The start failed: reject the waiter, and not the caller that released a process
      this.#leave(waiter);
      entry.reject(error);
    }
    return true;
  }

  #moveToEnd(tenant: string): void {
    const own = this.#waiting.get(tenant);
    if (own && this.#waiting.delete(tenant)) this.#waiting.set(tenant, own);
  }

  #busy(tenant: string): number {
    let busy = 0;
    for (const entry of this.#entries) if (entry.tenant === tenant && entry.state.kind !== 'idle') busy += 1;
    return busy;
  }

  /** A process in use that accepts another invocation, unless other waiters would starve: I3. */
  #joined(waiter: Waiter<P>): Entry<P> | undefined {
    const { key, use } = waiter.wanted;
    if (use !== 'shared') return undefined;
    const open = this.#entries.values().find((entry) => entry.key === key && isOpen(entry));
    return open && !this.#isLate(waiter) ? open : undefined;
  }

  /** Whether another waiter has waited long for the process that this one would use. */
  #isLate(waiter: Waiter<P>): boolean {
    const before = this.#options.now() - OVERTAKEN_MS_MAX;
    return [...this.#waiting].some(([tenant, [first]]) => {
      if (!first || first === waiter || first.since > before) return false;
      return tenant === waiter.wanted.tenant || this.#busy(tenant) < this.#options.shareMax;
    });
  }

  /** An idle or new process: I4. */
  #own(wanted: Wanted<P>): Entry<P> | undefined {
    const { key, tenant, use } = wanted;
    if (this.#busy(tenant) >= this.#options.shareMax) return undefined;
    const warm =
      use !== 'alone' && this.#entries.values().find((entry) => entry.key === key && isIdle(entry));
    return warm || this.#fresh(wanted);
  }

  /** I1. */
  #fresh(wanted: Wanted<P>): Entry<P> | undefined {
    if (this.#entries.size >= this.#options.warmMax) {
      this.#makeRoom();
      return undefined;
    }
    const { tenant } = wanted;
    if ((this.#starting.get(tenant) ?? 0) >= STARTING_MAX) return undefined;
    const process = wanted.start(() => {
      this.#entries.delete(entry);
      this.#serve();
    });
    const key = wanted.use === 'alone' ? undefined : wanted.key;
    const entry: Entry<P> = { process, key, tenant, state: idleSince(this.#options.now()) };
    void this.#whileStarting(tenant, process);
    this.#entries.add(entry);
    this.#started += 1;
    return entry;
  }

  /** I5. */
  async #whileStarting(tenant: string, { opened }: P): Promise<void> {
    const change = (by: number): void => {
      const starting = (this.#starting.get(tenant) ?? 0) + by;
      if (starting === 0) this.#starting.delete(tenant);
      else this.#starting.set(tenant, starting);
    };
    change(1);
    await opened;
    change(-1);
    this.#serve();
  }

  /** Ends the process that was idle longest; it counts until it has ended. Ends one for each waiter that may use it. */
  #makeRoom(): void {
    const { shareMax } = this.#options;
    const leaving = [...this.#entries].filter(({ process }) => process.isDead).length;
    const claims = [...this.#waiting].map(([tenant, { size }]) =>
      Math.min(size, shareMax - this.#busy(tenant)),
    );
    if (leaving >= claims.reduce((sum, claim) => sum + claim, 0)) return;
    const since = ({ state }: Entry): number => (state.kind === 'idle' ? state.since : 0);
    const [oldest] = [...this.#entries].filter(isIdle).sort((a, b) => since(a) - since(b));
    oldest?.process.kill();
  }

  #evictIdle(): void {
    const now = this.#options.now();
    for (const entry of this.#entries) {
      const { state, process } = entry;
      if (state.kind !== 'idle') continue;
      if (now - state.since >= this.#options.idleMs) process.kill();
      else if (!state.isAsleep && now - state.since >= SLEEP_AFTER_MS) {
        entry.state = { ...state, isAsleep: true };
        process.sleep();
      }
    }
  }
}
