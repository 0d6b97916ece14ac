/** Keeps repeated messages from filling the log: each key is reported separately, at most once per interval. */
const KEYS_MAX = 1_000;

export class Seldom {
  readonly #now: () => number;
  readonly #everyMs: number;
  readonly #reported = new Map<string, { readonly atMs: number; unreported: number }>();

  constructor(options: { readonly now: () => number; readonly everyMs: number }) {
    this.#now = options.now;
    this.#everyMs = options.everyMs;
  }

  /** The number of unreported occurrences since the last report; null to report nothing. */
  ask(key: string): number | null {
    const now = this.#now();
    const before = this.#reported.get(key);
    if (before && now < before.atMs + this.#everyMs) {
      before.unreported++;
      return null;
    }
    this.#reported.delete(key);
    this.#reported.set(key, { atMs: now, unreported: 0 });
    const [oldest] = this.#reported.keys();
    if (this.#reported.size > KEYS_MAX && oldest !== undefined) this.#reported.delete(oldest);
    return before?.unreported ?? 0;
  }
}
