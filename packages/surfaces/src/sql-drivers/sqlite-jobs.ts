/** The work of the process: queries and transactions on guarded connections. */
import { DatabaseSync } from 'node:sqlite';
import type { Data, DataObject } from '../calls/data.ts';
import type { SqlLimits, SqlStatement, SqlValue } from '../ports/sql.ts';
import { type Answer, Refusal } from '../refusal.ts';
import { overText, rowBytes } from './size.ts';
import { type Connection, guard } from './sqlite-connections.ts';
import type { Journaled, SqliteJob, SqliteTable } from './sqlite-wire.ts';

type Job<Kind extends SqliteJob['kind']> = Extract<SqliteJob, { kind: Kind }>;

const textOf = ({ pieces, gaps }: SqlStatement): string =>
  pieces.reduce((text, piece, index) => `${text}?${gaps[index - 1]! + 1}${piece}`);

/** Integers are bound as such: as floating point, a text column would store 5 as "5.0". */
function bound(value: SqlValue): null | number | bigint | string | Uint8Array {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

export function query(
  connection: Connection,
  { statement, limits }: Omit<Job<'query'>, 'file' | 'kind'>,
): DataObject[] {
  const prepared = connection.prepare(textOf(statement));
  const rows: DataObject[] = [];
  let columns: Column[] | null = null;
  let bytes = 0;
  for (const row of prepared.iterate(...statement.values.map(bound)) as Iterable<unknown>) {
    // Read after the first step, which recompiles the statement if its tables changed
    columns ??= prepared.columns().map(columnOf);
    const values = row as unknown[];
    const entries = columns.map((column, index) => [column.name, dataOf(values[index], column)] as const);
    bytes += rowBytes(entries);
    if (rows.length === limits.rowsMax) throw over('rows', limits);
    if (bytes > limits.bytesMax) throw over('bytes', limits);
    rows.push(Object.fromEntries(entries));
  }
  return rows;
}

interface Column {
  readonly name: string;
  readonly isBoolean: boolean;
}

const columnOf = ({ name, type }: { name: string; type: string | null }): Column => ({
  name,
  isBoolean: /^bool/i.test(type ?? ''),
});

function dataOf(value: unknown, { isBoolean }: Column): Data {
  if (typeof value === 'bigint') {
    if (isBoolean && (value === 0n || value === 1n)) return value === 1n;
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return value as Data;
}

const over = (reason: 'rows' | 'bytes', limits: SqlLimits): Refusal =>
  new Refusal('sql_transaction_aborted', { message: overText(reason, limits), details: { reason } });

/** All or none; with a journal the answer is recorded in the same transaction. */
export function execute(
  connection: Connection,
  { statements, journaled }: Job<'execute'>,
  onCommitting: () => void,
): Answer {
  const { database, unguarded } = connection;
  unguarded(() => database.exec('begin immediate'));
  try {
    const before = journaled && unguarded(() => recorded(database, journaled));
    if (before) {
      unguarded(() => database.exec('rollback'));
      return before;
    }
    const value = statements.map((statement, index) => affected(connection, statement, index));
    if (statements.some((statement) => /\brename\b/i.test(textOf(statement))))
      unguarded(() => checkNames(database));
    if (journaled) unguarded(() => record(database, journaled, value));
    onCommitting();
    unguarded(() => database.exec('commit'));
    return { kind: 'done', value };
  } catch (error) {
    if (database.isTransaction) unguarded(() => database.exec('rollback'));
    throw error;
  }
}

/** The authorizer sees no new name in a rename: a table renamed to a name of ours would become inaccessible. */
function checkNames(database: DatabaseSync): void {
  const taken = database
    .prepare(
      `select name from sqlite_master where name like 'gantry~_%' escape '~' and tbl_name <> 'gantry_invocations'`,
    )
    .get();
  if (!taken) return;
  const message = `SQLite: access to ${taken.name} is prohibited.`;
  throw new Refusal('datasource_access_denied', { message });
}

function affected(connection: Connection, statement: SqlStatement, index: number): number {
  try {
    const { changes } = connection.prepare(textOf(statement)).run(...statement.values.map(bound));
    // After a definition SQLite still reports the count of the previous statement
    return statement.kind === 'rows' ? Number(changes) : 0;
  } catch (error) {
    throw Object.assign(error instanceof Error ? error : new Error(String(error)), { operation: index });
  }
}

function recorded(database: DatabaseSync, { call }: Journaled): Answer | null {
  const row = database
    .prepare('select method, fingerprint, answer from gantry_invocations where id = ?')
    .get(call.id);
  if (!row) return null;
  const { method, fingerprint, answer } = row;
  return {
    kind: 'recorded',
    method: String(method),
    fingerprint: String(fingerprint),
    answer: String(answer),
  };
}

/** Each write also deletes a few expired records, so that the journal needs no other maintenance. */
const FORGET_MAX = 20;

function record(
  database: DatabaseSync,
  { call, now, forgetBefore }: Journaled,
  value: readonly number[],
): void {
  const run = (sql: string, ...values: (string | number)[]): void => {
    const statement = database.prepare(sql);
    // `run` also answers the last row id of the connection, which may exceed 2^53
    statement.setReadBigInts(true);
    statement.run(...values);
  };
  const answer = JSON.stringify(value);
  run(
    'insert into gantry_invocations values (?, ?, ?, ?, ?)',
    call.id,
    call.method,
    call.fingerprint,
    answer,
    now,
  );
  run(
    `delete from gantry_invocations where id in
       (select id from gantry_invocations where recorded_at < ? order by recorded_at limit ${FORGET_MAX})`,
    forgetBefore,
  );
}

/** Reads something, since opening alone reads nothing. */
export function look({ database, unguarded }: Connection): void {
  unguarded(() => database.prepare('select 1 from sqlite_schema limit 1').get());
}

export function queryTables({ tables, statement, limits }: Job<'tables'>): DataObject[] {
  const database = new DatabaseSync(':memory:', { defensive: true });
  try {
    for (const table of tables) fill(database, table);
    database.exec('pragma query_only = on; pragma trusted_schema = off;');
    return query(guard(database), { statement, limits });
  } finally {
    database.close();
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function fill(database: DatabaseSync, { name, columns, rows }: SqliteTable): void {
  const definitions = columns.map((column) => `${quoted(column.name)}${column.isBoolean ? ' boolean' : ''}`);
  // A table needs a column, even without rows to take names from
  database.exec(`create table ${quoted(name)} (${definitions.join(', ') || '"value"'})`);
  if (columns.length === 0) return;
  const insert = database.prepare(
    `insert into ${quoted(name)} values (${columns.map(() => '?').join(', ')})`,
  );
  database.exec('begin');
  for (const row of rows) insert.run(...row.map(bound));
  database.exec('commit');
}
