/** Tokenizes SQL of three dialects. Refuses text that databases could read differently; drops comments. */
import { OpenwopError } from '@gantry/protocol';
import type { SqlDialect } from '../../ports/sql.ts';

export type TokenKind = 'word' | 'name' | 'text' | 'number' | 'parameter' | 'operator' | 'punctuation';

export interface Token {
  readonly kind: TokenKind;
  /** As written. */
  readonly raw: string;
  /** Words in lower case, names without their quotes and in lower case, else as written. */
  readonly text: string;
  /** Whether there was space or a comment before it. */
  readonly gap: boolean;
  readonly at: number;
}

const SQL_LENGTH_MAX = 100_000;

const SPACE = /[ \t\r\n]+/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER = /0[xX][0-9a-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?/y;
const PARAMETER = /\?\d{0,5}|\$\d{1,5}|:[A-Za-z_][A-Za-z0-9_]*/y;
const OPERATOR = /::|[-+*/<>=~!@#%^&|]/y;
const PUNCTUATION = /[(),.;[\]:]/y;
const ESCAPES = /u&["'`]|uescape(?![A-Za-z0-9_$\u0080-\uffff])/iy;
const STARTS_WORD = /[A-Za-z0-9_$\u0080-\uffff]/;

const nonParametric = (message: string): OpenwopError => new OpenwopError('sql_non_parametric', { message });
const malformed = (message: string): OpenwopError => new OpenwopError('sql_syntax_error', { message });

export function tokensOf(sql: string, dialect: SqlDialect): Token[] {
  if (sql.length > SQL_LENGTH_MAX)
    throw malformed(`The statement is longer than ${SQL_LENGTH_MAX} characters; pass data in \`params\`.`);
  return new Tokenizer(sql, dialect).all();
}

class Tokenizer {
  readonly #sql: string;
  readonly #dialect: SqlDialect;
  #at = 0;
  #gap = false;

  constructor(sql: string, dialect: SqlDialect) {
    this.#sql = sql;
    this.#dialect = dialect;
  }

  all(): Token[] {
    const tokens: Token[] = [];
    for (;;) {
      this.#skip();
      if (this.#at === this.#sql.length) return tokens;
      tokens.push(this.#next());
      this.#gap = false;
    }
  }

  #skip(): void {
    while (this.#match(SPACE) !== null || this.#comment()) this.#gap = true;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#sql)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  #next(): Token {
    const at = this.#at;
    const start = this.#sql[at]!;
    if (start === "'") return this.#token('text', at, this.#quoted("'"));
    if (start === '"' || (start === '`' && this.#dialect !== 'postgres'))
      return this.#token('name', at, this.#quoted(start).toLowerCase());
    this.#refuseEscapes(at);
    const word = this.#match(WORD);
    if (word !== null) return this.#token('word', at, word.toLowerCase());
    const number = this.#match(NUMBER);
    if (number !== null) return this.#numberToken(at, number);
    this.#refuseUncertain(start);
    const parameter = this.#sql.startsWith('::', at) ? null : this.#match(PARAMETER);
    if (parameter !== null) return this.#token('parameter', at, parameter);
    const operator = this.#operators();
    if (operator !== '') return this.#token('operator', at, operator);
    const punctuation = this.#match(PUNCTUATION);
    if (punctuation !== null) return this.#token('punctuation', at, punctuation);
    throw malformed(
      `The statement has the character ${JSON.stringify(start)} at ${at}, which is not allowed.`,
    );
  }

  #token(kind: TokenKind, at: number, text: string): Token {
    return { kind, raw: this.#sql.slice(at, this.#at), text, gap: this.#gap, at };
  }

  /** MySQL reads `1a` as a name, others as a number and a name. */
  #numberToken(at: number, number: string): Token {
    if (STARTS_WORD.test(this.#sql[this.#at] ?? ''))
      throw malformed(`The statement has a number at ${at} that is followed by a name.`);
    return this.#token('number', at, number);
  }

  /** One token, as databases read it, but never across a comment. */
  #operators(): string {
    let operator = '';
    while (!this.#startsComment()) {
      const next = this.#match(OPERATOR);
      if (next === null) break;
      operator += next;
    }
    return operator;
  }

  #quoted(quote: string): string {
    const { at, end } = { at: this.#at, end: this.#closing(quote) };
    const inside = this.#sql.slice(at + 1, end);
    if (inside.includes('\\') || inside.includes('\0'))
      throw nonParametric(`The statement has a backslash inside quotes at ${at}; pass text in \`params\`.`);
    this.#at = end + 1;
    return inside.replaceAll(quote + quote, quote);
  }

  #closing(quote: string): number {
    for (let end = this.#at + 1; ; end += 2) {
      end = this.#sql.indexOf(quote, end);
      if (end === -1)
        throw nonParametric(`The statement has a ${quote} at ${this.#at} that is never closed.`);
      if (this.#sql[end + 1] !== quote) return end;
    }
  }

  #startsComment(): boolean {
    return this.#sql.startsWith('--', this.#at) || this.#sql.startsWith('/*', this.#at);
  }

  /** A comment up to the end would cut off the author's text, so it is refused; `/*!` is code in MySQL. */
  #comment(): boolean {
    if (!this.#startsComment()) return false;
    const { isLine, end } = this.#sql.startsWith('--', this.#at)
      ? { isLine: true, end: this.#sql.indexOf('\n', this.#at) }
      : { isLine: false, end: this.#sql.indexOf('*/', this.#at + 2) };
    const body = this.#sql.slice(this.#at + 2, end);
    const isUncertain = isLine
      ? this.#dialect === 'mysql' && !/^[ \t\r\n]/.test(`${body}\n`)
      : body.includes('/*') || /^M?!/.test(body);
    if (end === -1 || isUncertain || body.includes('\0'))
      throw nonParametric(
        `The statement has a comment at ${this.#at} that hides a part of it; leave comments out.`,
      );
    this.#at = end + (isLine ? 1 : 2);
    return true;
  }

  /** `U&"set!005fconfig" uescape '!'` is a name in PostgreSQL that this tokenizer cannot resolve. */
  #refuseEscapes(at: number): void {
    ESCAPES.lastIndex = at;
    if (ESCAPES.test(this.#sql))
      throw nonParametric(`The statement has a name or a text in escapes at ${at}; write it as it is.`);
  }

  #refuseUncertain(start: string): void {
    const { at } = { at: this.#at };
    if (start === '$' && !/\d/.test(this.#sql[at + 1] ?? ''))
      throw nonParametric(`The statement has a dollar quote at ${at}; pass text in \`params\`.`);
    const forbidden = { sqlite: '@#[]', mysql: '@#[]', postgres: '' }[this.#dialect];
    if (forbidden.includes(start))
      throw nonParametric(
        `The statement has "${start}" at ${at}. Write names in double quotes, values as parameters, and no comments.`,
      );
  }
}
