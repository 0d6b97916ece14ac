/** Replaces every form of a set of secret values, and of their parts, with `[REDACTED:<label>]`. */
import type { Json } from '../json.ts';
import { Automaton } from './automaton.ts';
import { formsOf } from './forms.ts';
import { partsOf } from './parts.ts';
import { FormStream } from './stream.ts';
import { ROOT } from './trie.ts';

export interface Redactor {
  /** True if there is nothing to search for. */
  readonly isEmpty: boolean;
  /** Returns the same string if it contains no form. */
  redact(text: string): string;
  /** Includes keys and numbers. Returns the same value if it contains no form. */
  redactJson<T extends Json>(value: T): T;
  contains(value: Json): boolean;
  /** The secrets of which the value contains a form. Not those whose form is the end of a longer one. */
  found(value: Json): ReadonlySet<SecretValue>;
  /** For text that arrives in chunks: holds back only characters that may become a form. */
  stream(): RedactedStream;
}

export interface RedactedStream {
  push(chunk: string): string;
  /** Returns the text that was held back. */
  end(): string;
}

export interface SecretValue {
  readonly value: string;
  /** Names the value in its replacement. */
  readonly label: string;
  /** Of the values that have this label. */
  readonly version?: number;
}

/** A long text that ends within a form was probably cut there, so that part of the form is replaced too. */
const CUT_TEXT_MIN = 256;
const CUT_FORM_MIN = 8;

export const EMPTY_REDACTOR: Redactor = {
  isEmpty: true,
  redact: (text) => text,
  redactJson: (value) => value,
  contains: () => false,
  found: () => new Set(),
  stream: () => ({ push: (chunk) => chunk, end: () => '' }),
};

export function createRedactor(values: Iterable<SecretValue>): Redactor {
  const forms = new Map<string, SecretValue[]>();
  for (const secret of values)
    for (const text of new Set([secret.value, ...partsOf(secret.value)].flatMap(formsOf))) {
      const secrets = forms.get(text);
      if (secrets) secrets.push(secret);
      else forms.set(text, [secret]);
    }
  if (forms.size === 0) return EMPTY_REDACTOR;
  return new FormRedactor(new Automaton(Array.from(forms, ([text, secrets]) => ({ text, secrets }))));
}

class FormRedactor implements Redactor {
  readonly isEmpty = false;
  readonly #automaton: Automaton;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  stream(): FormStream {
    return new FormStream(this.#automaton);
  }

  redact(text: string): string {
    const { isFound, begun } = this.#look(text);
    const isCut = text.length >= CUT_TEXT_MIN && begun >= CUT_FORM_MIN;
    if (!isFound && !isCut) return text;
    const stream = this.stream();
    return stream.push(text) + (isCut ? stream.endWithin() : stream.end());
  }

  redactJson<T extends Json>(value: T): T {
    return this.#replaced(value) as T;
  }

  contains(value: Json): boolean {
    if (typeof value === 'string') return this.#look(value).isFound;
    if (typeof value === 'number') return isLong(value) && this.#look(String(value)).isFound;
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some((item) => this.contains(item));
    return Object.entries(value).some(([key, member]) => this.contains(key) || this.contains(member));
  }

  found(value: Json): ReadonlySet<SecretValue> {
    const secrets = new Set<SecretValue>();
    for (const text of textsOf(value))
      this.#automaton.scan(text, 0, ROOT, (_, { secrets: all }) => {
        for (const secret of all) secrets.add(secret);
      });
    return secrets;
  }

  /** Whether the text contains a form, and how many of its last characters start one. */
  #look(text: string): { readonly isFound: boolean; readonly begun: number } {
    let isFound = false;
    const state = this.#automaton.scan(text, 0, ROOT, () => {
      isFound = true;
    });
    return { isFound, begun: this.#automaton.pending(state) };
  }

  #replaced(value: Json): Json {
    if (typeof value === 'string') return this.redact(value);
    if (typeof value === 'number') return this.contains(value) ? this.redact(String(value)) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#replaced(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const before = Object.entries(value);
    const members = before.map(([key, member]) => [this.redact(key), this.#replaced(member)] as const);
    const isSame = members.every(([key, member], at) => key === before[at]![0] && member === before[at]![1]);
    return isSame ? value : Object.fromEntries(members);
  }
}

/** All strings, keys and numbers that may contain a form. */
function* textsOf(value: Json): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number' && isLong(value)) yield String(value);
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item);
  else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) {
      yield key;
      yield* textsOf(member);
    }
}

/** A number with fewer digits is not a form of any value. */
const isLong = (value: number): boolean => Math.abs(value) >= 10_000_000 || !Number.isInteger(value);
