import postgres from 'postgres';
import { isTransient } from './errors.ts';

/** bigint columns hold milliseconds, sequences and epochs: all are safe integers. */
type Types = { bigint: number };
export type Sql = postgres.Sql<Types>;
export type Tx = postgres.TransactionSql<Types>;
export type Queryable = postgres.ISql<Types>;

const CONNECT_TIMEOUT_S = 10;
const CONNECTIONS_MAX = 10;
const INT8 = 20;

export function connect(url: string): Sql {
  return postgres(url, {
    max: CONNECTIONS_MAX,
    connect_timeout: CONNECT_TIMEOUT_S,
    connection: { application_name: 'gantry' },
    onnotice: () => {},
    types: { bigint: { to: INT8, from: [INT8], parse: Number, serialize: String } },
  });
}

/** Thrown inside a transaction that must be done again: another one was first. */
export class Raced extends Error {}

const ATTEMPTS_MAX = 20;

/** Every lost race means that another transaction won, so this ends. */
export async function transact<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await sql.begin(work)) as T;
    } catch (error) {
      const again = error instanceof Raced || isTransient(error);
      if (!again || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** Many rows as one parameter, for `json_to_recordset`. */
export const rowsJson = (rows: readonly object[]): string => JSON.stringify(rows);
