/** What happens in a loop must not fill the log: each key is told once in a while, by itself, so that none hides another. */
const KEYS_MAX = 1_000;

export class Seldom {
  readonly #now: () => number;
  readonly #everyMs: number;
  readonly #told = new Map<string, { readonly atMs: number; untold: number }>();

  constructor(options: { readonly now: () => number; readonly everyMs: number }) {
    this.#now = options.now;
    this.#everyMs = options.everyMs;
  }

  /** How many were not told since the last; null to keep silent. */
  ask(key: string): number | null {
    const now = this.#now();
    const before = this.#told.get(key);
    if (before && now < before.atMs + this.#everyMs) {
      before.untold++;
      return null;
    }
    this.#told.delete(key);
    this.#told.set(key, { atMs: now, untold: 0 });
    const [oldest] = this.#told.keys();
    if (this.#told.size > KEYS_MAX && oldest !== undefined) this.#told.delete(oldest);
    return before?.untold ?? 0;
  }
}
