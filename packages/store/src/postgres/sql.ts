import { openPostgres, type Sql, type Tx } from '@gantry/postgres';
import { isTransient } from './errors.ts';

export type { Sql, Tx } from '@gantry/postgres';
/** Inside a transaction or outside. */
export type Queryable = Sql | Tx;

export const connect = (url: string): Sql =>
  openPostgres({
    url,
    connectionsMax: 8,
    connectTimeoutS: 10,
    connection: { application_name: 'gantry' },
  });

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
