/** A statement and its values: checked, and ready for any driver. */
import { invalid, OpenwopError } from '@gantry/protocol';
import type { Data, DataObject } from '../../calls/data.ts';
import { isJson } from '../../calls/data.ts';
import type { SqlDialect, SqlStatement, SqlValue } from '../../ports/sql.ts';
import { withTypedColumns } from './bare-columns.ts';
import { kindOf, type SqlUse } from './kinds.ts';
import { checkLiterals } from './parametric.ts';
import { type Token, tokensOf } from './tokens.ts';

/** By position, or by name. */
export type SqlParams = readonly Data[] | DataObject;

const DEPTH_MAX = 64;

/** Throws `sql_non_parametric`, `sql_syntax_error`, `datasource_access_denied` or `validation_error`. */
export function statementOf(
  { sql, params = [] }: { readonly sql: string; readonly params?: SqlParams },
  use: SqlUse,
  dialect: SqlDialect,
): SqlStatement {
  const tokens = oneStatement(tokensOf(sql, dialect));
  checkDepth(tokens);
  const kind = kindOf(tokens, use, dialect);
  checkLiterals(tokens);
  const { gaps, values } = bind(tokens, params);
  checkLists(tokens, { gaps, values });
  const statement = { kind, pieces: piecesOf(tokens), gaps, values: values.map(sqlValueOf) };
  return use === 'query' && dialect === 'postgres' ? withTypedColumns(tokens, statement) : statement;
}

/** It may end with one semicolon. */
function oneStatement(tokens: readonly Token[]): readonly Token[] {
  const statement = tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
  if (statement.length === 0)
    throw new OpenwopError('sql_syntax_error', { message: 'The statement is empty.' });
  if (statement.some(({ kind, text }) => kind === 'punctuation' && text === ';'))
    throw new OpenwopError('sql_non_parametric', {
      message: 'There is more than one statement; send one, or use ctx.db.sql.transaction.',
    });
  return statement;
}

/** Limits nesting, because parsers of databases are recursive. */
function checkDepth(tokens: readonly Token[]): void {
  let depth = 0;
  for (const { kind, text } of tokens) {
    if (kind === 'punctuation' && text === '(') depth++;
    if (kind === 'punctuation' && text === ')') depth--;
    if (depth > DEPTH_MAX || depth < 0)
      throw new OpenwopError('sql_syntax_error', {
        message: `Parentheses do not match, or are more than ${DEPTH_MAX} deep.`,
      });
  }
}

/** Omits comments. Everything else is unchanged. */
function piecesOf(tokens: readonly Token[]): string[] {
  const pieces = [''];
  for (const { kind, raw, gap } of tokens) {
    if (gap) pieces[pieces.length - 1] += ' ';
    if (kind === 'parameter') pieces.push('');
    else pieces[pieces.length - 1] += raw;
  }
  return pieces;
}

interface Bound {
  readonly gaps: readonly number[];
  readonly values: readonly Data[];
}

function bind(tokens: readonly Token[], params: SqlParams): Bound {
  const written = tokens.filter(({ kind }) => kind === 'parameter').map(({ text }) => text);
  const styles = new Set(written.map(styleOf));
  if (styles.size > 1)
    throw unbound('Parameters are written in more than one way; use one of ?, $1 and :name.');
  if (styles.has('named')) return bindNamed(written, params);
  if (!Array.isArray(params)) {
    if (written.length === 0 && Object.keys(params).length === 0) return { gaps: [], values: [] };
    throw unbound('`params` is an object; write the parameters as :name, or pass an array.');
  }
  const gaps = written.map((text, index) => (text.length === 1 ? index : Number(text.slice(1)) - 1));
  const used = new Set(gaps);
  if (used.size !== params.length || gaps.some((gap) => gap < 0 || gap >= params.length))
    throw unbound(
      `The statement has ${counted(used.size, 'placeholder')} and \`params\` has ${counted(params.length, 'value')}. ` +
        `Give one value for each placeholder${styles.has('numbered') ? '; numbers begin with 1 and leave none out' : ''}.`,
    );
  return { gaps, values: params };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** A list becomes JSON text, which would equal no value of the column: `in (?, ?)` needs one parameter per value. */
function checkLists(tokens: readonly Token[], { gaps, values }: Bound): void {
  let [mark, isListed] = [0, false];
  for (const [index, { kind, text }] of tokens.entries()) {
    if (text === '(') isListed = tokens[index - 1]?.kind === 'word' && tokens[index - 1]?.text === 'in';
    else if (kind !== 'parameter' && text !== ',') isListed = false;
    if (kind !== 'parameter') continue;
    const value = values[gaps[mark++]!];
    const isPlain = typeof value !== 'object' || value === null || value instanceof Uint8Array;
    if (isListed && !isPlain) throw listed(text, value);
  }
}

const listed = (mark: string, value: Data): OpenwopError =>
  invalid(
    `The value for ${mark} inside \`in (...)\` is ${Array.isArray(value) ? 'a list' : 'an object'}, which would be ` +
      'compared as one JSON text. Write a placeholder for each value, as in `in (?, ?)`, and give them in `params` one by one.',
  );

function bindNamed(written: readonly string[], params: SqlParams): Bound {
  if (Array.isArray(params)) throw unbound('Parameters are written as :name; pass `params` as an object.');
  const names = new Map<string, number>();
  for (const text of written) if (!names.has(text.slice(1))) names.set(text.slice(1), names.size);
  const given = params as DataObject;
  const missing = [...names.keys()].find((name) => !Object.hasOwn(given, name));
  const unused = Object.keys(given).find((name) => !names.has(name));
  if (missing !== undefined) throw unbound(`\`params\` lacks "${missing}".`);
  if (unused !== undefined) throw unbound(`\`params\` has "${unused}", which the statement does not use.`);
  return {
    gaps: written.map((text) => names.get(text.slice(1))!),
    values: [...names.keys()].map((name) => given[name]!),
  };
}

const styleOf = (text: string): 'positional' | 'numbered' | 'named' =>
  text === '?' ? 'positional' : text.startsWith(':') ? 'named' : 'numbered';

const unbound = (message: string): OpenwopError => new OpenwopError('sql_non_parametric', { message });

/** Lists and objects are stored as JSON text. PostgreSQL stores neither NUL nor a lone surrogate. */
export function sqlValueOf(value: Data): SqlValue {
  if (typeof value === 'string') {
    if (value.isWellFormed() && !value.includes('\0')) return value;
    throw unkept('text with a NUL character or a lone surrogate');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw unkept('a number that is not finite');
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  if (!isJson(value)) throw unkept('bytes inside a list or an object');
  return sqlValueOf(JSON.stringify(value));
}

const unkept = (what: string): OpenwopError =>
  invalid(`\`params\` has ${what}, which databases cannot store.`);
