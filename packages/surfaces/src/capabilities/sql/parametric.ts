/**
 * Where a statement may contain a literal. The author's text cannot be distinguished from a user's, so:
 *
 * R1  Statements on rows contain no text literals. Text goes through `params`.
 * R2  They contain no number where rows are selected or written: WHERE, ON, HAVING, VALUES, SET, WHEN, IN and
 *     next to comparisons. Elsewhere (columns, LIMIT, ORDER BY, window frames, sizes of types) numbers are
 *     part of the statement.
 * R3  No true, false or null is a condition on its own.
 * R4  CREATE and ALTER accept no parameters in any database, so their defaults and checks may be literals. One
 *     that selects is a statement on rows.
 */
import { OpenwopError } from '@gantry/protocol';
import type { Token } from './tokens.ts';

const STRICT = new Set(['where', 'on', 'having', 'values', 'set', 'when', 'using', 'match']);
const RELAXED = new Set(
  'select from group order limit offset fetch returning window union intersect except join with'.split(' '),
);
const BESIDE = new Set(['and', 'or', 'xor', 'not', 'in', 'like', 'ilike', 'between', 'is', 'glob', 'regexp']);
const BEFORE_CONDITIONS = new Set(['where', 'and', 'or', 'xor', 'having']);
const CONSTANTS = new Set(['true', 'false', 'null', 'unknown']);
const DEFINES = new Set(['create', 'alter', 'drop', 'truncate']);
const FRAME_BOUNDS = new Set(['preceding', 'following']);
const NOT_COMPARISONS = new Set(['->', '->>', '=>', '<<', '>>', '#>', '#>>']);

const isWord = (token: Token | undefined, words: ReadonlySet<string>): boolean =>
  token?.kind === 'word' && words.has(token.text);

const compares = (token: Token | undefined): boolean =>
  isWord(token, BESIDE) ||
  (token?.kind === 'operator' && /[=<>~!]/.test(token.text) && !NOT_COMPARISONS.has(token.text));

/** Throws `sql_non_parametric` at the first literal that has to be a parameter. */
export function checkLiterals(tokens: readonly Token[]): void {
  const selects = tokens.some(({ kind, text }) => kind === 'word' && text === 'select');
  if (isWord(tokens[0], DEFINES) && !selects) return;
  const clauses = new Clauses();
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'text') throw literal('text', token);
    if (token.kind === 'number' && (clauses.isStrict || isCompared(tokens, index)))
      throw literal(`the number ${token.raw.slice(0, 20)}`, token);
    if (isWord(token, CONSTANTS) && isCondition(tokens, index))
      throw literal('a condition that is always the same', token);
    clauses.follow(tokens, index);
  }
}

const isCompared = (tokens: readonly Token[], index: number): boolean =>
  !isWord(tokens[index + 1], FRAME_BOUNDS) && (compares(tokens[index - 1]) || compares(tokens[index + 1]));

/** `or (not true`, but not `is not null`. */
function isCondition(tokens: readonly Token[], index: number): boolean {
  let at = index - 1;
  while (tokens[at]?.text === '(' || tokens[at]?.text === 'not') at--;
  return isWord(tokens[at], BEFORE_CONDITIONS);
}

const literal = (what: string, { at }: Token): OpenwopError =>
  new OpenwopError('sql_non_parametric', {
    message: `The statement has ${what} at ${at}. Write ? there and pass the value in \`params\`.`,
    details: { position: at },
  });

interface Frame {
  readonly opened: 'parenthesis' | 'case';
  readonly outer: boolean;
  strict: boolean;
}

/** The clause of a token; parentheses and CASE have their own and inherit the surrounding one. */
class Clauses {
  readonly #frames: Frame[] = [{ opened: 'parenthesis', outer: false, strict: false }];

  get isStrict(): boolean {
    return this.#frames.at(-1)!.strict;
  }

  follow(tokens: readonly Token[], index: number): void {
    const { kind, text } = tokens[index]!;
    if (kind === 'punctuation' && text === '(') this.#open('parenthesis', this.#inside(tokens, index));
    if (kind === 'punctuation' && text === ')' && this.#frames.length > 1) this.#frames.pop();
    if (kind === 'word') this.#word(text);
  }

  #word(text: string): void {
    const frame = this.#frames.at(-1)!;
    if (text === 'case') this.#open('case', this.isStrict);
    else if (frame.opened === 'case' && text === 'end') this.#frames.pop();
    else if (frame.opened === 'case' && (text === 'then' || text === 'else')) frame.strict = frame.outer;
    else if (STRICT.has(text)) frame.strict = true;
    else if (RELAXED.has(text)) frame.strict = false;
  }

  /** The size of a type in `cast(a as decimal(10, 2))` or `a::numeric(10, 2)` is not a value. */
  #inside(tokens: readonly Token[], index: number): boolean {
    const [beforeType, before] = [tokens[index - 2], tokens[index - 1]];
    const isSize = before?.kind === 'word' && (beforeType?.text === 'as' || beforeType?.text === '::');
    return !isSize && (this.isStrict || isWord(before, BESIDE));
  }

  #open(opened: Frame['opened'], strict: boolean): void {
    this.#frames.push({ opened, outer: strict, strict });
  }
}
