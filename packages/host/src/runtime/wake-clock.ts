import { type Clock, systemClock } from './clock.ts';

/**
 * Timers count monotonic time, but due times are wall time, which may jump. So no timer is longer than this: wall
 * time is checked again while anything waits.
 */
export const LOOK_EVERY_MS = 5_000;

/** One timer, for the earliest due time. No timer runs while nothing waits. */
export class WakeClock {
  readonly #now: () => number;
  readonly #onDue: () => Promise<number | null>;
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;
  #at = Number.POSITIVE_INFINITY;
  #stopped = false;

  /** `onDue` processes everything that is due and returns the next due time, if any. */
  constructor(now: () => number, onDue: () => Promise<number | null>, clock = systemClock) {
    this.#now = now;
    this.#onDue = onDue;
    this.#clock = clock;
  }

  /** Something is due at `at`. */
  note(at: number): void {
    if (at >= this.#at || this.#stopped) return;
    this.#at = at;
    this.#cancel?.();
    const delayMs = Math.min(Math.max(at - this.#now(), 0), LOOK_EVERY_MS);
    this.#cancel = this.#clock.after(delayMs, () => void this.#fire());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #fire(): Promise<void> {
    const early = this.#at - this.#now();
    this.#at = Number.POSITIVE_INFINITY;
    if (early > 0) return this.note(this.#now() + early);
    const next = await this.#onDue();
    if (next !== null) this.note(next);
  }
}
