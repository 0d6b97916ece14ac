/** Warm processes: at most one per key, a bounded number in all, the longest idle leaves first. */
import type { PackProcess } from './pack-process.ts';

const INVOCATIONS_PER_PROCESS_MAX = 64;
/** A process that was idle this long is stopped until it is used again. */
const SLEEP_AFTER_MS = 1_000;

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

/** What to start, and under which key it may be shared. */
export interface Wanted {
  readonly key: string;
  /** Alone: never shared, gone after use. */
  readonly alone: boolean;
  readonly signal?: AbortSignal | undefined;
  start(onEnd: () => void): PackProcess;
}

interface Entry {
  readonly process: PackProcess;
  readonly key: string | undefined;
  inUse: number;
  idleSince: number;
  isAsleep: boolean;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #entries = new Set<Entry>();
  readonly #waiting: (() => void)[] = [];
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
      busy: entries.filter(({ inUse }) => inUse > 0).length,
      asleep: entries.filter(({ isAsleep }) => isAsleep).length,
      waiting: this.#waiting.length,
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
    for (;;) {
      wanted.signal?.throwIfAborted();
      if (this.#isStopped) throw new Error('The sandbox is stopped.');
      const entry = this.#shared(wanted) ?? this.#fresh(wanted);
      if (entry) return this.#take(entry);
      await this.#room(wanted.signal);
    }
  }

  #shared({ key, alone }: Wanted): Entry | undefined {
    if (alone) return undefined;
    for (const entry of this.#entries)
      if (entry.key === key && !entry.process.isDead && entry.inUse < INVOCATIONS_PER_PROCESS_MAX)
        return entry;
    return undefined;
  }

  #fresh(wanted: Wanted): Entry | undefined {
    if (this.#entries.size >= this.#options.warmMax) {
      this.#evictOne();
      return undefined;
    }
    const process = wanted.start(() => {
      this.#entries.delete(entry);
      this.#wakeAll();
    });
    const key = wanted.alone ? undefined : wanted.key;
    const entry: Entry = { process, key, inUse: 0, idleSince: 0, isAsleep: false };
    this.#entries.add(entry);
    this.#started += 1;
    return entry;
  }

  #take(entry: Entry): Entry {
    entry.inUse += 1;
    if (entry.isAsleep) entry.process.wake();
    entry.isAsleep = false;
    return entry;
  }

  #release(entry: Entry): void {
    entry.inUse -= 1;
    entry.idleSince = this.#options.now();
    if (entry.key === undefined) entry.process.kill();
    this.#waiting.shift()?.();
  }

  async #room(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    signal?.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }

  #wakeAll(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** The longest idle process makes room; its place is free when it is really gone. */
  #evictOne(): void {
    const idle = [...this.#entries].filter(({ inUse, process }) => inUse === 0 && !process.isDead);
    const [oldest] = idle.sort((a, b) => a.idleSince - b.idleSince);
    oldest?.process.kill();
  }

  #evictIdle(): void {
    const now = this.#options.now();
    for (const entry of this.#entries) {
      if (entry.inUse > 0) continue;
      if (now - entry.idleSince >= this.#options.idleMs) entry.process.kill();
      else if (!entry.isAsleep && now - entry.idleSince >= SLEEP_AFTER_MS) {
        entry.isAsleep = true;
        entry.process.sleep();
      }
    }
  }
}
