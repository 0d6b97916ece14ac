/**
 * JSON with one meaning for all readers. `JSON.parse` keeps the last of two members with one name, and rounds
 * integers above 2^53. Both are detected in the text, with their path.
 */
import type { Json } from './json.ts';

export interface JsonProblem {
  /** JSON pointer to the value. */
  readonly path: string;
  readonly problem: string;
}

/** Parses JSON. Throws `SyntaxError` for other text. `problem` is what parsing would change. */
export function readJsonText(text: string): { readonly value: Json; readonly problem?: JsonProblem } {
  const value: Json = JSON.parse(text);
  const problem = new Scan(text).problem();
  return problem ? { value, problem } : { value };
}

/** An open object or list: the names so far, and the position of the scan in it. */
type Level =
  | { readonly kind: 'object'; readonly names: Set<string>; at: string; expectsName: boolean }
  | { readonly kind: 'list'; at: number };

const SIGN = { quote: 0x22, comma: 0x2c, minus: 0x2d, backslash: 0x5c } as const;
const LIST = { opens: 0x5b, closes: 0x5d } as const;
const OBJECT = { opens: 0x7b, closes: 0x7d } as const;
const isPartOfNumber = (code: number): boolean =>
  isDigit(code) || code === 0x2e || code === 0x2b || code === SIGN.minus || code === 0x65 || code === 0x45;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** Shorter integers are below 2^53. */
const DIGITS_SAFE = 15;

/** Scans a text once that `JSON.parse` accepted. */
class Scan {
  readonly #text: string;
  readonly #levels: Level[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  problem(): JsonProblem | undefined {
    for (let at = 0; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      const level = this.#levels.at(-1);
      if (code === SIGN.quote) {
        const end = this.#endOfText(at);
        if (level?.kind === 'object' && level.expectsName) {
          const name = this.#nameAt(at, end);
          if (!enter(level, name)) return this.#found('duplicate member');
        }
        at = end;
      } else if (code === SIGN.minus || isDigit(code)) {
        const end = this.#endOfNumber(at);
        const number = end - at > DIGITS_SAFE ? this.#text.slice(at, end) : '';
        if (isRounded(number))
          return this.#found(`the integer ${number.slice(0, 40)} is too large; send it as text`);
        at = end - 1;
      } else this.#structure(code, level);
    }
    return;
  }

  #structure(code: number, level: Level | undefined): void {
    if (code === OBJECT.opens)
      this.#levels.push({ kind: 'object', names: new Set(), at: '', expectsName: true });
    else if (code === LIST.opens) this.#levels.push({ kind: 'list', at: 0 });
    else if (code === OBJECT.closes || code === LIST.closes) this.#levels.pop();
    else if (code === SIGN.comma && level?.kind === 'object') level.expectsName = true;
    else if (code === SIGN.comma && level?.kind === 'list') level.at++;
  }

  #endOfText(start: number): number {
    for (let end = this.#text.indexOf('"', start + 1); ; end = this.#text.indexOf('"', end + 1)) {
      let before = end - 1;
      while (this.#text.charCodeAt(before) === SIGN.backslash) before--;
      // An odd number of backslashes escapes the quote.
      if ((end - before) % 2 === 1) return end;
    }
  }

  #nameAt(start: number, end: number): string {
    const raw = this.#text.slice(start + 1, end);
    return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
  }

  #endOfNumber(start: number): number {
    let end = start + 1;
    while (end < this.#text.length && isPartOfNumber(this.#text.charCodeAt(end))) end++;
    return end;
  }

  #found(problem: string): JsonProblem {
    const path = this.#levels.map(({ at }) => `/${String(at).replaceAll('~', '~0').replaceAll('/', '~1')}`);
    return { path: path.join(''), problem };
  }
}

/** Whether the name is new in the object. */
function enter(level: Extract<Level, { kind: 'object' }>, name: string): boolean {
  const before = level.names.size;
  level.names.add(name);
  level.at = name;
  level.expectsName = false;
  return level.names.size > before;
}

/** Integers that a double represents exactly are fine: 1e16 and the like. */
export const isRounded = (number: string): boolean =>
  /^-?\d+$/.test(number) && String(Number(number)) !== number;
