/** The state on which changes are decided: entries as read, with the writes of the changes decided so far. */
import {
  type Entry,
  type EntryKey,
  type EntryReads,
  entryKey,
  storedEntry,
  versionAfter,
  type Write,
} from '@gantry/store';

export class State {
  readonly #reads: Reads;
  readonly #onRead: (key: string) => void;
  readonly #read = new Map<string, { readonly key: EntryKey; readonly entry: Promise<Entry | null> }>();
  readonly #written = new Map<string, Entry | null>();

  /** `onRead` may throw to prevent the read of a key. */
  constructor(reads: Reads, onRead: (key: string) => void = () => {}) {
    this.#reads = reads;
    this.#onRead = onRead;
  }

  async get(key: EntryKey): Promise<Entry | null> {
    const name = entryKey(key);
    this.#onRead(name);
    const written = this.#written.get(name);
    if (written !== undefined) return written;
    const known = this.#read.get(name);
    if (known) return known.entry;
    const entry = this.#reads.get(key);
    this.#read.set(name, { key, entry });
    return entry;
  }

  /** Applies the writes of a decided change. */
  apply(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.kind === 'putEntry')
        this.#written.set(entryKey(write.entry), storedEntry(write.entry, versionAfter(write)));
      else if (write.kind === 'deleteEntry') this.#written.set(entryKey(write.key), null);
    }
  }

  /** Entries that were read and are not written must be unchanged at the commit. */
  async preconditions(): Promise<Write[]> {
    const expected = [...this.#read].filter(([name]) => !this.#written.has(name));
    return Promise.all(
      expected.map(async ([, { key, entry }]): Promise<Write> => {
        return { kind: 'expectEntry', key, version: (await entry)?.version ?? null };
      }),
    );
  }

  hasRead(key: string): boolean {
    return this.#read.has(key);
  }

  /** The keys of everything read or written so far. */
  get keys(): string[] {
    return [...new Set([...this.#read.keys(), ...this.#written.keys()])].sort();
  }

  /** The new value of each written entry, null if deleted. */
  get written(): ReadonlyMap<string, Entry | null> {
    return this.#written;
  }
}

/**
 * Reads of one turn of the event loop are one message to the store. Large entries are read separately
 * afterwards, so that no other read waits for their bytes.
 */
export class Reads {
  readonly #entries: Pick<EntryReads, 'get' | 'getSmall'>;
  #waiting: { readonly key: EntryKey; readonly found: PromiseWithResolvers<Entry | null> }[] = [];

  constructor(entries: Pick<EntryReads, 'get' | 'getSmall'>) {
    this.#entries = entries;
  }

  get(key: EntryKey): Promise<Entry | null> {
    const found = Promise.withResolvers<Entry | null>();
    if (this.#waiting.push({ key, found }) === 1) setImmediate(() => this.#send());
    return found.promise;
  }

  async #send(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    try {
      const entries = await this.#entries.getSmall(asked.map(({ key }) => key));
      for (const [i, { key, found }] of asked.entries()) {
        const entry = entries[i] ?? null;
        found.resolve(entry === 'large' ? this.#entries.get(key) : entry);
      }
    } catch (error) {
      for (const { found } of asked) found.reject(error);
    }
  }
}
