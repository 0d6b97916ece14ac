/**
 * Warm processes, a bounded number in all; the longest idle leaves first.
 *
 * I1 There are never more than `warmMax`, those on their way out included.
 * I2 An exclusive use has its process for itself from the first to the last moment.
 * I3 Nobody waits for ever while others come and go: who has waited long is not overtaken.
 */
import type { PackProcess } from './pack-process.ts';

const INVOCATIONS_PER_PROCESS_MAX = 64;
/** A process that was idle this long is stopped until it is used again. */
const SLEEP_AFTER_MS = 1_000;
/** Newcomers may join a process in use while others wait for one, but not longer than this. */
const OVERTAKEN_MS_MAX = 1_000;

export interface PoolOptions {
  readonly warmMax: number;
  readonly idleMs: number;
  readonly now: () => number;
}

export interface PoolStats {
  readonly warm: number;
  readonly busy: number;
  readonly asleep: number;
  /** Invocations that wait for a process. */
  readonly waiting: number;
  /** Processes since the start. */
  readonly started: number;
}

/**
 * `shared`: with others that share, in a warm process. `exclusive`: nobody else meanwhile, in a warm process.
 * `alone`: in a process of its own, gone after use.
 */
export type Use = 'shared' | 'exclusive' | 'alone';

/** What to start, and under which key it may be used again. */
export interface Wanted {
  readonly key: string;
  readonly use: Use;
  readonly signal?: AbortSignal | undefined;
  start(onEnd: () => void): PackProcess;
}

type State =
  | { readonly kind: 'idle'; readonly since: number; readonly isAsleep: boolean }
  | { readonly kind: 'shared'; readonly by: number }
  | { readonly kind: 'exclusive' };

interface Entry {
  readonly process: PackProcess;
  /** `undefined` when it is gone after its first use. */
  readonly key: string | undefined;
  state: State;
}

interface Waiter {
  readonly since: number;
  wake(): void;
}

const isUsable = ({ state, process }: Entry, use: Use): boolean => {
  if (process.isDead) return false;
  if (state.kind === 'shared') return use === 'shared' && state.by < INVOCATIONS_PER_PROCESS_MAX;
  return state.kind === 'idle';
};

export class Pool {
  readonly #options: PoolOptions;
  readonly #entries = new Set<Entry>();
  /** In the order of their coming. */
  readonly #waiting = new Set<Waiter>();
  readonly #sweep: NodeJS.Timeout;
  #started = 0;
  #isStopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#evictIdle(), Math.min(options.idleMs, SLEEP_AFTER_MS));
    this.#sweep.unref();
  }

  /** Borrows a process for `work`. Waits while every process there may be is busy with something else. */
  async use<T>(wanted: Wanted, work: (process: PackProcess) => Promise<T>): Promise<T> {
    const entry = await this.#acquire(wanted);
    try {
      return await work(entry.process);
    } finally {
      this.#release(entry);
    }
  }

  stats(): PoolStats {
    const entries = [...this.#entries];
    return {
      warm: entries.length,
      busy: entries.filter(({ state }) => state.kind !== 'idle').length,
      asleep: entries.filter(({ state }) => state.kind === 'idle' && state.isAsleep).length,
      waiting: this.#waiting.size,
      started: this.#started,
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#sweep);
    const gone = [...this.#entries].map(({ process }) => process.ended);
    for (const { process } of this.#entries) process.kill();
    this.#wakeAll();
    await Promise.all(gone);
  }

  async #acquire(wanted: Wanted): Promise<Entry> {
    const waiter: Waiter = { since: this.#options.now(), wake: () => {} };
    const stopWaiting = (): void => waiter.wake();
    wanted.signal?.addEventListener('abort', stopWaiting, { once: true });
    try {
      for (;;) {
        wanted.signal?.throwIfAborted();
        if (this.#isStopped) throw new Error('The sandbox is stopped.');
        const entry = this.#mayPass(waiter) ? (this.#usable(wanted) ?? this.#fresh(wanted)) : undefined;
        if (entry) return this.#take(entry, wanted.use);
        await this.#turn(waiter);
      }
    } finally {
      wanted.signal?.removeEventListener('abort', stopWaiting);
      if (this.#waiting.delete(waiter)) this.#wakeAll();
    }
  }

  /** I3. */
  #mayPass(waiter: Waiter): boolean {
    const [first] = this.#waiting;
    if (first === undefined || first === waiter) return true;
    return this.#options.now() - first.since < OVERTAKEN_MS_MAX;
  }

  #usable({ key, use }: Wanted): Entry | undefined {
    if (use === 'alone') return undefined;
    for (const entry of this.#entries) if (entry.key === key && isUsable(entry, use)) return entry;
    return undefined;
  }

  /** I1. */
  #fresh(wanted: Wanted): Entry | undefined {
    if (this.#entries.size >= this.#options.warmMax) {
      this.#makeRoom();
      return undefined;
    }
    const process = wanted.start(() => {
      this.#entries.delete(entry);
      this.#wakeAll();
    });
    const key = wanted.use === 'alone' ? undefined : wanted.key;
    const entry: Entry = { process, key, state: this.#idle() };
    this.#entries.add(entry);
    this.#started += 1;
    return entry;
  }

  #idle(): State {
    return { kind: 'idle', since: this.#options.now(), isAsleep: false };
  }

  /** I2. */
  #take(entry: Entry, use: Use): Entry {
    const { state, process } = entry;
    if (state.kind === 'idle' && state.isAsleep) process.wake();
    if (use === 'shared') entry.state = { kind: 'shared', by: state.kind === 'shared' ? state.by + 1 : 1 };
    else entry.state = { kind: 'exclusive' };
    return entry;
  }

  #release(entry: Entry): void {
    const { state } = entry;
    const isShared = state.kind === 'shared' && state.by > 1;
    entry.state = isShared ? { kind: 'shared', by: state.by - 1 } : this.#idle();
    if (entry.key === undefined) entry.process.kill();
    this.#wakeAll();
  }

  async #turn(waiter: Waiter): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiter.wake = resolve;
    this.#waiting.add(waiter);
    await promise;
  }

  #wakeAll(): void {
    for (const waiter of this.#waiting) waiter.wake();
  }

  /** The longest idle process leaves; its place is free when it is really gone. One for each who waits. */
  #makeRoom(): void {
    const entries = [...this.#entries];
    const leaving = entries.filter(({ process }) => process.isDead);
    if (leaving.length > this.#waiting.size) return;
    let oldest: { readonly process: PackProcess; readonly since: number } | undefined;
    for (const { state, process } of entries)
      if (state.kind === 'idle' && !process.isDead && (!oldest || state.since < oldest.since))
        oldest = { process, since: state.since };
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
