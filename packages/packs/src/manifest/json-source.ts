import { isRounded, type Json, pointer } from '@gantry/protocol';

export { pointer } from '@gantry/protocol';

/** A position in a text, counted from 1 as in editors. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type JsonSource =
  | { readonly kind: 'json'; readonly value: Json; positionOf(pointer: string): Position }
  | { readonly kind: 'broken'; readonly message: string; readonly position: Position };

class Broken extends Error {}

const SPACE = new Set([' ', '\t', '\n', '\r']);
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * Parses JSON and records the position of each value, which `JSON.parse` does not. It is also stricter: duplicate
 * keys and keys that would set a prototype are refused, since two readers could see two manifests.
 */
class Reader {
  readonly offsets = new Map<string, number>();
  readonly #text: string;
  readonly #depthMax: number;
  offset = 0;

  constructor(text: string, depthMax: number) {
    this.#text = text;
    this.#depthMax = depthMax;
  }

  document(): Json {
    const value = this.#value('', 0);
    this.#space();
    if (this.offset < this.#text.length) throw new Broken('The document continues after its end.');
    return value;
  }

  #value(at: string, depth: number): Json {
    this.#space();
    this.offsets.set(at, this.offset);
    if (depth > this.#depthMax) throw new Broken(`Nested deeper than ${this.#depthMax} levels.`);
    const next = this.#text[this.offset];
    if (next === '{') return this.#object(at, depth);
    if (next === '[') return this.#array(at, depth);
    if (next === '"') return this.#string();
    return this.#literal();
  }

  #object(at: string, depth: number): Json {
    const entries = new Map<string, Json>();
    this.offset++;
    if (this.#takes('}')) return {};
    do {
      this.#space();
      if (this.#text[this.offset] !== '"') throw new Broken('Expected a key in double quotes.');
      const keyOffset = this.offset;
      const key = this.#string();
      if (entries.has(key) || key === '__proto__') {
        this.offset = keyOffset;
        const isTwice = entries.has(key);
        throw new Broken(
          isTwice ? `Duplicate key ${JSON.stringify(key.slice(0, 64))}.` : 'The key __proto__ is not taken.',
        );
      }
      if (!this.#takes(':')) throw new Broken('Expected a colon after the key.');
      entries.set(key, this.#value(pointer(at, key), depth + 1));
    } while (this.#takes(','));
    if (!this.#takes('}')) throw new Broken('Expected a comma or the closing brace.');
    return Object.fromEntries(entries);
  }

  #array(at: string, depth: number): Json {
    const items: Json[] = [];
    this.offset++;
    if (this.#takes(']')) return items;
    do items.push(this.#value(pointer(at, items.length), depth + 1));
    while (this.#takes(','));
    if (!this.#takes(']')) throw new Broken('Expected a comma or the closing bracket.');
    return items;
  }

  #string(): string {
    let end = this.offset + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    try {
      const value: unknown = JSON.parse(this.#text.slice(this.offset, end + 1));
      this.offset = end + 1;
      return String(value);
    } catch {
      throw new Broken('The string is not closed, or has a character that must be escaped.');
    }
  }

  #literal(): Json {
    LITERAL.lastIndex = this.offset;
    const [found] = LITERAL.exec(this.#text) ?? [];
    if (found === undefined) throw new Broken('Expected a value.');
    if (isRounded(found))
      throw new Broken(`The integer ${found.slice(0, 40)} is too large: write it as text.`);
    this.offset += found.length;
    return JSON.parse(found);
  }

  #takes(sign: string): boolean {
    this.#space();
    if (this.#text[this.offset] !== sign) return false;
    this.offset++;
    return true;
  }

  #space(): void {
    while (SPACE.has(this.#text[this.offset] ?? '')) this.offset++;
  }
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

export function readJsonSource(text: string, options: { readonly depthMax: number }): JsonSource {
  const reader = new Reader(text, options.depthMax);
  try {
    const value = reader.document();
    const positionOf = (at: string): Position => positionAt(text, nearest(reader.offsets, at));
    return { kind: 'json', value, positionOf };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { kind: 'broken', message: error.message, position: positionAt(text, reader.offset) };
  }
}

/** A missing member has no position, so the position of its object is used. */
export function nearest(offsets: ReadonlyMap<string, number>, at: string): number {
  const found = offsets.get(at);
  return found ?? (at === '' ? 0 : nearest(offsets, at.slice(0, at.lastIndexOf('/'))));
}
