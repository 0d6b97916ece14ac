import type { CatalogueView } from './reader.ts';

interface Remembered<T> {
  readonly revision: number;
  readonly value: Promise<T>;
  size: number;
}

/**
 * Values derived from one revision of a pack or catalogue. Evicts the least recently used beyond a total size;
 * concurrent callers share one computation.
 */
export class RevisionCache<T> {
  readonly #sizeMax: number;
  readonly #sizeOf: (value: T) => number;
  readonly #known = new Map<string, Remembered<T>>();
  #size = 0;

  constructor(sizeMax: number, sizeOf: (value: T) => number) {
    this.#sizeMax = sizeMax;
    this.#sizeOf = sizeOf;
  }

  get(key: string, revision: number, make: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    this.#forget(key);
    if (known?.revision !== revision) return this.#make(key, revision, make);
    this.#known.set(key, known);
    this.#size += known.size;
    return known.value;
  }

  #forget(key: string): void {
    this.#size -= this.#known.get(key)?.size ?? 0;
    this.#known.delete(key);
  }

  #make(key: string, revision: number, make: () => Promise<T>): Promise<T> {
    const entry: Remembered<T> = { revision, value: make(), size: 0 };
    this.#known.set(key, entry);
    const isKept = (): boolean => this.#known.get(key) === entry;
    entry.value.then(
      (value) => {
        if (!isKept()) return;
        entry.size = this.#sizeOf(value);
        this.#size += entry.size;
        this.#makeRoom(key);
      },
      () => {
        if (isKept()) this.#forget(key);
      },
    );
    return entry.value;
  }

  #makeRoom(newest: string): void {
    for (const key of this.#known.keys()) {
      if (this.#size <= this.#sizeMax || key === newest) return;
      this.#forget(key);
    }
  }
}

/** Readers without a key share one view, as do operators. Other readers have a view per tenant. */
const VIEWS_MAX = 16;

/** Derives a value once per view and revision of the catalogue; concurrent callers share it. */
export function byRevision<T>(
  derive: (view: CatalogueView) => T | Promise<T>,
): (view: CatalogueView) => Promise<T> {
  const made = new RevisionCache<T>(VIEWS_MAX, () => 1);
  return (view) => made.get(view.reader.id, view.revision, async () => derive(view));
}
