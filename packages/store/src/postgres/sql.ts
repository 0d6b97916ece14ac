import { openPostgres, type Sql, type Tx } from '@gantry/postgres';
import { insertInto, type Table } from '../columns.ts';
import { isTransient } from './errors.ts';

export type { Sql, Tx } from '@gantry/postgres';
/** Inside or outside a transaction. */
export type Queryable = Sql | Tx;

export interface ConnectOptions {
  readonly url: string;
  readonly statementTimeoutMs: number;
}

export const connect = ({ url, statementTimeoutMs }: ConnectOptions): Sql =>
  openPostgres({
    url,
    connectionsMax: 8,
    connectTimeoutS: 10,
    statementTimeoutMs,
    connection: {
      application_name: 'gantry',
      ...LOOKUPS_ONLY,
      // A process that hangs within a transaction must not keep its locks
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    },
  });

const IDLE_IN_TRANSACTION_MS_MAX = 15_000;

/**
 * Statements of the store find few rows by an index. A plan made while a table was small scans the whole table, and
 * stays cached while the table grows: at 100,000 entries creates fell to 0.13 and updates to 0.09 of an empty table.
 */
const LOOKUPS_ONLY = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };

/** Thrown inside a transaction that must be repeated because another one was first. */
export class Raced extends Error {}

const ATTEMPTS_MAX = 20;

export const transact = <T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> =>
  repeated(async () => (await sql.begin(work)) as T);

/** Without a deadline. */
export const sweep = <T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> =>
  repeated(() => sql.unhurried(work));

/** Each lost race means that another transaction won, so this terminates. */
async function repeated<T>(attemptIt: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptIt();
    } catch (error) {
      const again = error instanceof Raced || isTransient(error);
      if (!again || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** The rows of a query as a plain array. */
export const rowsOf = async <Row>(query: PromiseLike<readonly Row[]>): Promise<Row[]> => [...(await query)];

export const rowOf = async <Row>(query: PromiseLike<readonly Row[]>): Promise<Row | null> =>
  (await query)[0] ?? null;

/** Passes many rows as one parameter. `types` as in `tenant text, "runId" text`; other members are ignored. */
export const rowsAs = (sql: Queryable, name: string, rows: readonly object[], types: string) =>
  sql`json_to_recordset(${JSON.stringify(rows)}::text::json) as ${sql.unsafe(`${name} (${types})`)}`;

/** The types of a table's members, for `rowsAs`. */
export const typesOf = ({ members }: Table): string =>
  members.map(([member, type]) => `"${member}" ${type === 'blob' ? 'text' : type}`).join(', ');

/** Returns the number of inserted rows. `end` is the rest of the statement: the order and the conflict clause. */
export async function insert(tx: Tx, table: Table, rows: readonly object[], end = ''): Promise<number> {
  if (rows.length === 0) return 0;
  const { count } = await tx`
    ${tx.unsafe(insertInto(table))}
    select ${tx.unsafe(table.members.map(([member]) => `"${member}"`).join(', '))}
    from ${rowsAs(tx, 'r', rows, typesOf(table))}
    ${tx.unsafe(end)}
  `;
  return count;
}

/** Inserts rows that must be new. If another transaction inserted one meanwhile, the whole transaction is repeated. */
export async function insertNew(tx: Tx, table: Table, rows: readonly object[], order: string): Promise<void> {
  const count = await insert(tx, table, rows, `order by ${order} on conflict do nothing`);
  if (count !== rows.length) throw new Raced();
}
