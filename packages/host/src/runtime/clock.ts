/**
 * Time and randomness are inputs of the runtime. Processes that share a store read wall time from it, so `now`
 * is not part of the clock.
 */
export interface Clock {
  /** Monotonic milliseconds, independent of wall time. */
  elapsedMs(): number;
  /** Calls `run` once, after `ms`. Returns a cancel function. A background timer does not keep the process alive. */
  after(ms: number, run: () => void, where?: 'background'): () => void;
  /** Calls `run` in the next turn of the event loop. */
  soon(run: () => void): void;
}

export interface Inputs {
  /** Wall time; may jump. */
  readonly now: () => number;
  readonly clock: Clock;
  readonly randomBytes: Entropy;
}

/** The system clock is the default. */
export type RuntimeInputs = Omit<Inputs, 'clock'> & Partial<Pick<Inputs, 'clock'>>;

export type Entropy = (count: number) => Uint8Array;

export const systemClock: Clock = {
  elapsedMs: () => performance.now(),
  after(ms, run, where) {
    const timer = setTimeout(run, ms);
    if (where === 'background') timer.unref();
    return () => clearTimeout(timer);
  },
  soon(run) {
    setImmediate(run);
  },
};

/** Resolves after `ms`, or when the signal aborts. */
export const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
