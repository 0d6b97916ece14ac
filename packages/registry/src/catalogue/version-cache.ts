import type { PublishedVersion } from './catalogue.ts';

/** What is remembered for a pack, as of the change that it last had. */
interface Remembered {
  readonly revision: number;
  readonly versions: Promise<readonly PublishedVersion[]>;
  size: number;
}

export interface Loaded {
  readonly versions: readonly PublishedVersion[];
  readonly size: number;
}

/** Keeps the packs that were asked for last, up to a size; those who ask at once wait for one reading. */
export class VersionCache {
  readonly #sizeMax: number;
  readonly #packs = new Map<string, Remembered>();
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get(name: string, revision: number, load: () => Promise<Loaded>): Promise<readonly PublishedVersion[]> {
    const known = this.#packs.get(name);
    if (known?.revision === revision) {
      this.#packs.delete(name);
      this.#packs.set(name, known);
      return known.versions;
    }
    this.forget(name);
    return this.#load(name, revision, load);
  }

  forget(name: string): void {
    const known = this.#packs.get(name);
    if (known === undefined) return;
    this.#packs.delete(name);
    this.#size -= known.size;
  }

  #load(name: string, revision: number, load: () => Promise<Loaded>): Promise<readonly PublishedVersion[]> {
    const loading = load();
    const entry: Remembered = { revision, versions: loading.then(({ versions }) => versions), size: 0 };
    this.#packs.set(name, entry);
    const isKept = (): boolean => this.#packs.get(name) === entry;
    loading.then(
      ({ size }) => {
        if (!isKept()) return;
        entry.size = size;
        this.#size += size;
        this.#makeRoom(name);
      },
      () => {
        if (isKept()) this.forget(name);
      },
    );
    return entry.versions;
  }

  #makeRoom(newest: string): void {
    for (const name of this.#packs.keys()) {
      if (this.#size <= this.#sizeMax || name === newest) return;
      this.forget(name);
    }
  }
}
