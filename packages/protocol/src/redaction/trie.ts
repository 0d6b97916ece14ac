/** The prefixes of a set of forms. Each is a numbered state; 0 is the empty prefix. */
import type { SecretValue } from './redactor.ts';

export interface Form {
  readonly text: string;
  /** All that have this form; the first one names it in the replacement. */
  readonly secrets: readonly SecretValue[];
}

export const ROOT = 0;
export const NONE = -1;

export class Trie {
  readonly depth: number[] = [0];
  /** The character that leads to the state with the next number, or `NONE`. */
  readonly along: number[] = [NONE];
  /** All other successors by character, only for states where forms branch. */
  readonly branches = new Map<number, Map<number, number>>([[ROOT, new Map()]]);
  /** The form that ends here. */
  readonly ends = new Map<number, Form>();

  /** Forms of different texts. */
  constructor(forms: Iterable<Form>) {
    for (const form of forms) this.#add(form);
  }

  *successors(state: number): Iterable<readonly [code: number, state: number]> {
    if (this.along[state] !== NONE) yield [this.along[state]!, state + 1];
    yield* this.branches.get(state) ?? [];
  }

  isLeaf(state: number): boolean {
    return this.along[state] === NONE && !this.branches.has(state);
  }

  #add(form: Form): void {
    let state = ROOT;
    for (let at = 0; at < form.text.length; at++) {
      const code = form.text.charCodeAt(at);
      state = this.#successor(state, code) ?? this.#grow(state, code);
    }
    this.ends.set(state, form);
  }

  #successor(state: number, code: number): number | undefined {
    return this.along[state] === code ? state + 1 : this.branches.get(state)?.get(code);
  }

  #grow(state: number, code: number): number {
    const grown = this.depth.length;
    this.depth.push(this.depth[state]! + 1);
    this.along.push(NONE);
    if (grown === state + 1) this.along[state] = code;
    else this.branches.set(state, (this.branches.get(state) ?? new Map()).set(code, grown));
    return grown;
  }
}
