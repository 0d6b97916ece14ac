/** Replaces every form of a set of secret values by `[REDACTED:<label>]`. */
import type { Json } from '../json.ts';
import { Automaton } from './automaton.ts';
import { formsOf } from './forms.ts';
import { FormStream } from './stream.ts';
import { type Form, ROOT } from './trie.ts';

export interface Redactor {
  /** True while there is nothing to look for. */
  readonly isEmpty: boolean;
  /** The same string when it has no form. */
  redact(text: string): string;
  /** Keys and numbers too. The same value when it has no form. */
  redactJson<T extends Json>(value: T): T;
  contains(value: Json): boolean;
  /** For text that arrives in pieces: holds back only what may become a form. */
  stream(): RedactedStream;
}

export interface RedactedStream {
  push(chunk: string): string;
  /** What was held back. */
  end(): string;
}

export interface SecretValue {
  readonly value: string;
  /** Stands in the text instead of the value. */
  readonly label: string;
}

export const EMPTY_REDACTOR: Redactor = {
  isEmpty: true,
  redact: (text) => text,
  redactJson: (value) => value,
  contains: () => false,
  stream: () => ({ push: (chunk) => chunk, end: () => '' }),
};

export function createRedactor(values: Iterable<SecretValue>): Redactor {
  const forms: Form[] = [];
  for (const { value, label } of values) for (const text of formsOf(value)) forms.push({ text, label });
  return forms.length === 0 ? EMPTY_REDACTOR : new FormRedactor(new Automaton(forms));
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
    if (!this.#isIn(text)) return text;
    const stream = this.stream();
    return stream.push(text) + stream.end();
  }

  redactJson<T extends Json>(value: T): T {
    return this.contains(value) ? (this.#replaced(value) as T) : value;
  }

  contains(value: Json): boolean {
    if (typeof value === 'string') return this.#isIn(value);
    if (typeof value === 'number') return isLong(value) && this.#isIn(String(value));
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some((item) => this.contains(item));
    return Object.entries(value).some(([key, member]) => this.#isIn(key) || this.contains(member));
  }

  #isIn(text: string): boolean {
    let isFound = false;
    this.#automaton.scan(text, 0, ROOT, () => {
      isFound = true;
    });
    return isFound;
  }

  #replaced(value: Json): Json {
    if (typeof value === 'string') return this.redact(value);
    if (typeof value === 'number') return this.contains(value) ? this.redact(String(value)) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#replaced(item));
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([key, member]) => [this.redact(key), this.#replaced(member)]));
  }
}

/** A number of fewer digits is no form of any value. */
const isLong = (value: number): boolean => Math.abs(value) >= 10_000_000 || !Number.isInteger(value);
