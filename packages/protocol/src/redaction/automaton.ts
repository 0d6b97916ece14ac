/**
 * Finds every occurrence of many forms in one pass (Aho-Corasick).
 *
 * I1  A state is the longest suffix of the text so far that is a prefix of a form.
 * I2  Time is linear in the text, whatever the forms: a character lengthens that suffix by at most one, and each
 *     mismatch shortens it.
 * I3  Space is linear in the forms. Only states where forms branch have a row of successors for all of ASCII, which
 *     includes those of their shorter suffixes. Other states have one successor, the next number.
 */
import { type Form, NONE, ROOT, Trie } from './trie.ts';

const ROW = 128;
const CODE_UNITS = 0x1_0000;

export class Automaton {
  readonly #along: Int32Array;
  /** The longest shorter suffix of the same text that is also a prefix of a form. */
  readonly #shorter: Int32Array;
  /** The start of the state's row in `#rows`, or `NONE`. */
  readonly #rowAt: Int32Array;
  readonly #rows: Int32Array;
  /** Successors beyond ASCII of states where forms branch, by state and character. */
  readonly #beyond = new Map<number, number>();
  /** The longest form that ends in a state. `#isEnd` is a faster check for one. */
  readonly #ends: Map<number, Form>;
  readonly #isEnd: Uint8Array;
  /** The number of last characters that may still become a form, or a longer one. */
  readonly #pending: Int32Array;

  constructor(forms: Iterable<Form>) {
    const trie = new Trie(forms);
    const size = trie.depth.length;
    this.#along = Int32Array.from(trie.along);
    this.#shorter = new Int32Array(size);
    this.#rowAt = new Int32Array(size).fill(NONE);
    const wide = statesWithRow(trie);
    for (const [index, state] of wide.entries()) this.#rowAt[state] = index * ROW;
    this.#rows = new Int32Array(wide.length * ROW);
    this.#ends = trie.ends;
    this.#isEnd = new Uint8Array(size);
    for (const state of trie.ends.keys()) this.#isEnd[state] = 1;
    this.#pending = Int32Array.from(trie.depth);
    this.#complete(trie);
  }

  pending(state: number): number {
    return this.#pending[state]!;
  }

  /** Returns the state after the text. Calls `found` at each end of a form, with the longest form that ends there. */
  scan(text: string, from: number, before: number, found: (end: number, form: Form) => void): number {
    const rowAt = this.#rowAt;
    const rows = this.#rows;
    const isEnd = this.#isEnd;
    let state = before;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const row = rowAt[state]!;
      state = row !== NONE && code < ROW ? rows[row + code]! : this.#step(state, code);
      if (isEnd[state] === 1) found(at + 1, this.#ends.get(state)!);
    }
    return state;
  }

  #step(from: number, code: number): number {
    for (let state = from; ; state = this.#shorter[state]!) {
      if (this.#along[state] === code) return state + 1;
      const row = this.#rowAt[state]!;
      if (row === NONE) continue;
      if (code < ROW) return this.#rows[row + code]!;
      const beyond = this.#beyond.get(state * CODE_UNITS + code);
      if (beyond !== undefined) return beyond;
      if (state === ROOT) return ROOT;
    }
  }

  /** By depth: longer suffixes need the results of shorter ones. */
  #complete(trie: Trie): void {
    const queue = [ROOT];
    // The array grows during the loop: successors follow all states of lower depth.
    for (const state of queue) {
      const others = this.#rowAt[state] === NONE ? undefined : trie.branches.get(state);
      if (this.#along[state] !== NONE) queue.push(this.#enter(state, this.#along[state]!, state + 1));
      else if (!others) this.#pending[state] = this.#pending[this.#shorter[state]!]!;
      if (others) for (const [code, next] of others) queue.push(this.#enter(state, code, next));
      if (this.#rowAt[state] !== NONE) this.#fillRow(state, others ?? []);
    }
  }

  #enter(from: number, code: number, state: number): number {
    const shorter = from === ROOT ? ROOT : this.#step(this.#shorter[from]!, code);
    this.#shorter[state] = shorter;
    if (this.#isEnd[state] === 0 && this.#isEnd[shorter] === 1) {
      this.#isEnd[state] = 1;
      this.#ends.set(state, this.#ends.get(shorter)!);
    }
    return state;
  }

  #fillRow(state: number, others: Iterable<readonly [number, number]>): void {
    const row = this.#rowAt[state]!;
    if (state !== ROOT)
      for (let code = 0; code < ROW; code++) this.#rows[row + code] = this.#step(this.#shorter[state]!, code);
    const along = this.#along[state]!;
    if (along !== NONE && along < ROW) this.#rows[row + along] = state + 1;
    for (const [code, next] of others)
      if (code < ROW) this.#rows[row + code] = next;
      else this.#beyond.set(state * CODE_UNITS + code, next);
  }
}

/** States where forms branch, and the first characters of all forms, where most mismatches occur. */
function statesWithRow(trie: Trie): number[] {
  const first = [...trie.successors(ROOT)].map(([, state]) => state);
  return [...new Set([...trie.branches.keys(), ...first])];
}
