const KEPT_MIN = 65_536;

interface Changed {
  readonly collection: number;
  readonly seq: number;
}

/**
 * Which documents changed lately, as the writer knows: nobody else changes any. So what a scan found is brought up to
 * date by looking at these alone. A write that is undone may be in it: what did not change is looked at in vain.
 */
export class RecentChanges {
  readonly #kept: Changed[] = [];
  /** The number of the oldest that is kept. A writer that starts anew counts on: what it did not see is too old. */
  #first = Date.now() * 1_000;

  get mark(): number {
    return this.#first + this.#kept.length;
  }

  note(collection: number, seq: number): void {
    this.#kept.push({ collection, seq });
    if (this.#kept.length < 2 * KEPT_MIN) return;
    this.#kept.splice(0, KEPT_MIN);
    this.#first += KEPT_MIN;
  }

  /** Null when that is no longer known. */
  since(mark: number, collection: number): Set<number> | null {
    if (mark < this.#first || mark > this.mark) return null;
    const later = this.#kept.slice(mark - this.#first);
    return new Set(later.filter((each) => each.collection === collection).map(({ seq }) => seq));
  }
}
