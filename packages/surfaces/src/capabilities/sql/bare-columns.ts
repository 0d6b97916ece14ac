/**
 * Parameters that are columns on their own, as in `select ? as v`: PostgreSQL would type them as text. Not
 * handled: in a UNION, in a subquery, without AS, or if the parameter is used elsewhere too.
 */
import type { SqlStatement, SqlValue } from '../../ports/sql.ts';
import type { Token } from './tokens.ts';

const SELECTS = new Set(['select', 'union', 'intersect', 'except']);
const BEFORE = new Set(['select', 'distinct', ',']);
const BEHIND = new Set(['as']);
const CLAUSES = new Set(['from', 'where', 'group', 'having', 'window', 'order', 'limit', 'offset', 'fetch']);
const OPENS = new Set(['(', '[']);
const CLOSES = new Set([')', ']']);

/** Appends type casts to such parameters. */
export function withTypedColumns(tokens: readonly Token[], statement: SqlStatement): SqlStatement {
  const { pieces, gaps, values } = statement;
  const uses = new Map<number, number>();
  for (const gap of gaps) uses.set(gap, (uses.get(gap) ?? 0) + 1);
  const typed = [...pieces];
  for (const position of bareColumns(tokens)) {
    const gap = gaps[position]!;
    if (uses.get(gap) === 1) typed[position + 1] = `${typeOf(values[gap]!)}${pieces[position + 1]}`;
  }
  return { ...statement, pieces: typed };
}

function typeOf(value: SqlValue): '' | '::bigint' | '::float8' | '::boolean' | '::bytea' {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? '::bigint' : '::float8';
  if (typeof value === 'boolean') return '::boolean';
  return value instanceof Uint8Array ? '::bytea' : '';
}

/** The positions of these parameters, counted from the first. */
function bareColumns(tokens: readonly Token[]): readonly number[] {
  const outer = outerTokens(tokens);
  if (outer.filter((token) => is(token, SELECTS)).length !== 1) return [];
  const columns = outer.slice(outer.findIndex((token) => is(token, SELECTS)));
  const end = columns.findIndex((token) => is(token, CLAUSES));
  const positions = new Map(
    tokens.filter(({ kind }) => kind === 'parameter').map((token, position) => [token, position]),
  );
  return columns.slice(0, end === -1 ? columns.length : end).flatMap((token, at) => {
    const isBare = is(columns[at - 1], BEFORE) && is(columns[at + 1], BEHIND);
    return isBare && token.kind === 'parameter' ? [positions.get(token)!] : [];
  });
}

const is = (token: Token | undefined, words: ReadonlySet<string>): boolean =>
  (token?.kind === 'word' || token?.kind === 'punctuation') && words.has(token.text);

/** Tokens outside all parentheses, including the parentheses themselves. */
function outerTokens(tokens: readonly Token[]): readonly Token[] {
  let depth = 0;
  return tokens.filter((token) => {
    if (is(token, CLOSES)) depth--;
    const isOuter = depth === 0;
    if (is(token, OPENS)) depth++;
    return isOuter;
  });
}
