/** Statements that packs may send: an allowlist, since every database has verbs of its own. */
import { invalid, OpenwopError } from '@gantry/protocol';
import type { SqlDialect } from '../../ports/sql.ts';
import { forbiddenFunction } from './functions.ts';
import type { Token } from './tokens.ts';

export type SqlUse = 'query' | 'execute';
/** A definition of tables ends a transaction in MySQL, and has no row count. */
export type SqlKind = 'rows' | 'definition';

const READS = new Set(['select', 'with', 'values']);
const WRITES = new Set(['insert', 'update', 'delete', 'replace', 'merge', 'with']);
const DEFINITIONS: Readonly<Record<string, RegExp>> = {
  create: /^(?:unique )?(?:index|table)\b|^(?:or replace )?view\b/,
  alter: /^table\b/,
  drop: /^(?:table|index|view)\b/,
  truncate: /^\w/,
};
const WORDS_OF_DEFINITION = 3;

/** They write files or read files of the server. */
const FORBIDDEN_WORDS = new Set(['outfile', 'dumpfile', 'infile']);
/** Tables of one session would not exist in the next call. */
const OF_THE_SESSION = /^pg_temp(?:_\d+)?$/;
/** Locations and servers outside the database, in CREATE TABLE of MySQL. */
const FORBIDDEN_IN_MYSQL_DEFINITIONS = new Set(['connection', 'directory', 'tablespace']);

/** Throws when the statement is not allowed for `use`. */
export function kindOf(tokens: readonly Token[], use: SqlUse, dialect: SqlDialect): SqlKind {
  const first = tokens.findIndex(({ text }) => text !== '(');
  const verb = tokens[first]?.kind === 'word' ? tokens[first].text : '';
  const kind = Object.hasOwn(DEFINITIONS, verb) ? 'definition' : 'rows';
  if (use === 'query') checkQuery(tokens, verb);
  else if (kind === 'rows') checkWrite(tokens, verb);
  if (kind === 'rows' && dialect === 'mysql') checkValues(tokens, use);
  if (kind === 'definition') checkDefinition(tokens, verb, dialect);
  checkReach(tokens, dialect);
  return kind;
}

function checkQuery(tokens: readonly Token[], verb: string): void {
  if (!READS.has(verb)) throw notFor('query', verb);
  if (tokens.some(({ kind, text }) => kind === 'word' && text === 'into')) throw forbidden('SELECT INTO');
}

/** RETURNING is refused: its rows would be discarded after the driver collected them all. Inside WITH it is allowed. */
function checkWrite(tokens: readonly Token[], verb: string): void {
  if (!WRITES.has(verb)) throw notFor('execute', verb);
  const words = outerWords(tokens);
  const main = words.find((word) => word !== 'with' && (WRITES.has(word) || READS.has(word)));
  if (main === undefined || READS.has(main)) throw notFor('execute', main ?? verb);
  if (words.includes('returning'))
    throw invalid(
      'ctx.db.sql.execute answers how many rows it changed; leave RETURNING out, and query them.',
    );
}

const outerWords = (tokens: readonly Token[]): string[] =>
  [...withDepth(tokens)].flatMap(({ token, depth }) =>
    token.kind === 'word' && depth === 0 ? [token.text] : [],
  );

function* withDepth(tokens: readonly Token[]): Generator<{ token: Token; depth: number; index: number }> {
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'punctuation') depth += { '(': 1, ')': -1 }[token.text] ?? 0;
    yield { token, depth, index };
  }
}

/**
 * Tested: MariaDB 10.11 answers empty bytes for each parameter of a VALUES that is a table; MySQL has another syntax.
 */
function checkValues(tokens: readonly Token[], use: SqlUse): void {
  for (const { token, depth, index } of withDepth(tokens)) {
    if (token.kind !== 'word' || token.text !== 'values') continue;
    // Not the rows of an INSERT, nor `values(column)` in its ON DUPLICATE KEY UPDATE
    if (use === 'execute' && (depth === 0 || isCallOnColumn(tokens, index))) continue;
    throw malformed(
      'MySQL and MariaDB do not support VALUES as a table. Write SELECT ? AS a, ? AS b, and UNION ALL before ' +
        'each further row.',
    );
  }
}

/** `(v)` or `(t.v)`. */
const COLUMN_TOKENS_MAX = 6;

function isCallOnColumn(tokens: readonly Token[], index: number): boolean {
  const following = tokens.slice(index + 2, index + 2 + COLUMN_TOKENS_MAX);
  const end = following.findIndex(({ kind, text }) => kind === 'punctuation' && text === ')');
  const isPart = ({ kind, text }: Token) =>
    kind === 'name' || text === '.' || (kind === 'word' && text !== 'null');
  return end > 0 && following.slice(0, end).every(isPart);
}

function checkDefinition(tokens: readonly Token[], verb: string, dialect: SqlDialect): void {
  const following = tokens
    .slice(1, 1 + WORDS_OF_DEFINITION)
    .map(({ text }) => text)
    .join(' ');
  if (!DEFINITIONS[verb]!.test(following)) throw forbidden(`${verb} ${following}`.toUpperCase());
  if (dialect !== 'mysql') return;
  const outside = tokens.find(
    ({ kind, text }) => kind === 'word' && FORBIDDEN_IN_MYSQL_DEFINITIONS.has(text),
  );
  if (outside) throw forbidden(`${outside.text.toUpperCase()} (as a name, write it in double quotes)`);
}

function checkReach(tokens: readonly Token[], dialect: SqlDialect): void {
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind === 'word' && FORBIDDEN_WORDS.has(text)) throw forbidden(text.toUpperCase());
    if (OF_THE_SESSION.test(text) && (kind === 'word' || kind === 'name'))
      throw forbidden(`the schema ${text}`);
    const name = forbiddenFunction(tokens, index, dialect);
    if (name !== null) throw forbidden(`the function ${name}`);
  }
}

function notFor(use: SqlUse, verb: string): OpenwopError {
  const other = use === 'query' ? 'execute' : 'query';
  const fits = use === 'query' ? WRITES.has(verb) || Object.hasOwn(DEFINITIONS, verb) : READS.has(verb);
  if (!fits) return OTHER_VERBS.has(verb) ? forbidden(verb.toUpperCase()) : unknownVerb(verb);
  return invalid(`ctx.db.sql.${use} cannot do ${verb.toUpperCase()}; use ctx.db.sql.${other}.`);
}

const unknownVerb = (verb: string): OpenwopError =>
  malformed(
    `${verb === '' ? 'The statement does not begin with a word' : `No statement begins with ${verb.slice(0, 80).toUpperCase()}`}. ` +
      'It must be SELECT, INSERT, UPDATE, DELETE or a definition of a table, an index or a view.',
  );

const malformed = (message: string): OpenwopError => new OpenwopError('sql_syntax_error', { message });

const forbidden = (what: string): OpenwopError =>
  new OpenwopError('datasource_access_denied', {
    message:
      `${what.slice(0, 80)} is not allowed for nodes. They may select, insert, update, delete, and define tables, ` +
      'indexes and views.',
  });

/** First words of statements in SQLite, PostgreSQL, MySQL and MariaDB, apart from those that nodes may send. */
const VERBS = [
  'analyze begin commit end explain release rename rollback savepoint table',
  'attach detach pragma reindex vacuum',
  'abort analyse call checkpoint close cluster comment copy deallocate declare discard do execute fetch grant',
  'import listen load lock move notify prepare reassign refresh repack reset revoke security set show start',
  'unlisten wait',
  'backup binlog cache change check checksum clone delimiter desc describe flush get handler help install kill',
  'leave optimize purge repair resignal restart return shutdown signal slave source stop uninstall unlock use xa',
];

/** These verbs are denied by name; any other unknown verb is a syntax error. */
export const OTHER_VERBS: ReadonlySet<string> = new Set(VERBS.flatMap((line) => line.split(' ')));
