/** Longest delay setTimeout can take. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * One timer for the whole process: it fires when the earliest waiting run is due, and only then.
 * With nothing due, nothing runs.
 */
export class WakeClock {
  readonly #now: () => number;
  readonly #onDue: () => Promise<number | null>;
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;
  #stopped = false;

  /** `onDue` works on everything due and answers when the next run is due, if any. */
  constructor(now: () => number, onDue: () => Promise<number | null>) {
    this.#now = now;
    this.#onDue = onDue;
  }

  /** Some run is due at `at`. */
  note(at: number): void {
    if (at >= this.#at || this.#stopped) return;
    this.#at = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(at - this.#now(), 0), TIMER_MS_MAX));
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #fire(): Promise<void> {
    const early = this.#at - this.#now();
    this.#at = Number.POSITIVE_INFINITY;
    if (early > 0) return this.note(this.#now() + early);
    const next = await this.#onDue();
    if (next !== null) this.note(next);
  }
}
