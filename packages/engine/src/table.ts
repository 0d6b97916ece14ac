/**
 * A persistent map from node (or edge) ids to values: changing one value copies one chunk of entries, not all
 * of them, so the cost of an event does not depend on the width of its workflow.
 *
 * I1 A table is immutable to its users: `with` returns a new one, which shares the other chunks.
 * I2 Entries keep the order in which their ids were first added. A removed entry keeps its slot, without a
 *    value.
 * I3 The index from ids to slots is shared by all versions of a table and only ever appended to, by the version
 *    that is the longest. A version sees slots below its own length; a version that is no longer the longest
 *    copies the index before it appends. A table of few entries has no index.
 */
const CHUNK_ENTRIES = 64;
/** A linear search of this many entries is faster than an index; most runs have no more nodes. */
const UNINDEXED_MAX = 16;

export interface Entry<Value> {
  readonly id: string;
  readonly value: Value | undefined;
}

type Chunks<Value> = readonly (readonly Entry<Value>[])[];
type Slots = Map<string, number>;

export class Table<Value> {
  /** For loops over all entries: faster than iterating. Chunks that two versions share are identical objects. */
  readonly chunks: Chunks<Value>;
  /** The number of entries with a value. */
  readonly size: number;
  readonly #slots: Slots | null;
  readonly #length: number;

  private constructor(chunks: Chunks<Value>, size: number, slots: Slots | null, length: number) {
    this.chunks = chunks;
    this.size = size;
    this.#slots = slots;
    this.#length = length;
  }

  static readonly #empty = new Table<never>([], 0, null, 0);

  static of<Value>(values?: { readonly [id: string]: Value }): Table<Value> {
    if (!values) return Table.#empty;
    const entries = Object.entries(values).map(([id, value]) => ({ id, value }));
    const chunks: Entry<Value>[][] = [];
    for (let at = 0; at < entries.length; at += CHUNK_ENTRIES)
      chunks.push(entries.slice(at, at + CHUNK_ENTRIES));
    return new Table(chunks, entries.length, indexOf(chunks, entries.length), entries.length);
  }

  get(id: string): Value | undefined {
    const slot = this.#slotOf(id);
    return slot === undefined
      ? undefined
      : this.chunks[Math.floor(slot / CHUNK_ENTRIES)]![slot % CHUNK_ENTRIES]!.value;
  }

  /** `undefined` removes the value. */
  with(id: string, value: Value | undefined): Table<Value> {
    const slot = this.#slotOf(id);
    if (slot === undefined) return value === undefined ? this : this.#append({ id, value });
    const at = Math.floor(slot / CHUNK_ENTRIES);
    const old = this.chunks[at]!;
    const before = old[slot % CHUNK_ENTRIES]!.value;
    const size = this.size + Number(value !== undefined) - Number(before !== undefined);
    const chunk = old.with(slot % CHUNK_ENTRIES, { id, value });
    return new Table(this.chunks.with(at, chunk), size, this.#slots, this.#length);
  }

  *[Symbol.iterator](): Generator<readonly [string, Value]> {
    for (const chunk of this.chunks)
      for (const { id, value } of chunk) if (value !== undefined) yield [id, value];
  }

  /** Ids whose value may differ. Skips chunks that both versions share. */
  changedFrom(before: Table<Value>): Set<string> {
    const ids = new Set<string>();
    for (let at = 0; at < Math.max(this.chunks.length, before.chunks.length); at++) {
      const [old, now] = [before.chunks[at] ?? [], this.chunks[at] ?? []];
      if (old === now) continue;
      for (let slot = 0; slot < Math.max(old.length, now.length); slot++) {
        if (old[slot] === now[slot]) continue;
        for (const entry of [old[slot], now[slot]]) if (entry) ids.add(entry.id);
      }
    }
    return ids;
  }

  /** The argument of `Table.of`. */
  toJSON(): { [id: string]: Value } {
    return Object.fromEntries(this);
  }

  #slotOf(id: string): number | undefined {
    if (this.#slots) {
      const slot = this.#slots.get(id);
      return slot !== undefined && slot < this.#length ? slot : undefined;
    }
    for (let slot = 0; slot < this.#length; slot++) if (this.chunks[0]![slot]!.id === id) return slot;
    return undefined;
  }

  /** I3. */
  #append(entry: Entry<Value>): Table<Value> {
    const length = this.#length;
    const slots = this.#slots?.size === length ? this.#slots : indexOf(this.chunks, length + 1);
    slots?.set(entry.id, length);
    const last = this.chunks.length - 1;
    const chunks =
      length % CHUNK_ENTRIES === 0
        ? [...this.chunks, [entry]]
        : this.chunks.with(last, [...this.chunks[last]!, entry]);
    return new Table(chunks, this.size + 1, slots, length + 1);
  }
}

/** Null for a table with too few entries to need an index. */
function indexOf<Value>(chunks: Chunks<Value>, length: number): Slots | null {
  return length > UNINDEXED_MAX ? new Map(chunks.flat().map(({ id }, slot) => [id, slot])) : null;
}
