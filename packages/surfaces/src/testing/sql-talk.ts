/** A SQL backend as the tests of its contract speak to it. */
import assert from 'node:assert/strict';
import type { DataObject } from '../calls/data.ts';
import { type SqlParams, statementOf } from '../capabilities/sql/template.ts';
import type { SqlBackend } from '../ports/sql.ts';
import { freshTenant, read, type WriteOptions, write } from './calls.ts';

export type Sql = ReturnType<typeof talk>;

/** A backend as SQL: every statement by itself, for one tenant. */
export function talk(backend: SqlBackend, tenant = freshTenant()) {
  const { dialect } = backend;
  const parsed = (sql: string, params: SqlParams) => statementOf({ sql, params }, 'execute', dialect);
  return {
    backend,
    tenant,
    query: (sql: string, params: SqlParams = []): Promise<DataObject[]> =>
      backend.query(statementOf({ sql, params }, 'query', dialect), read(tenant)),
    async execute(sql: string, params: SqlParams = [], options: WriteOptions = {}): Promise<number> {
      const [affected] = await backend.execute([parsed(sql, params)], write(tenant, options));
      return affected ?? assert.fail('no count');
    },
    transaction: (...operations: [string, SqlParams][]): Promise<number[]> =>
      backend.execute(
        operations.map(([sql, params]) => parsed(sql, params)),
        write(tenant),
      ),
    /** Sends what is no query as one. */
    smuggle: (sql: string, params: SqlParams) => backend.query(parsed(sql, params), read(tenant)),
  };
}

let tables = 0;
export const freshTable = (): string => `t_${process.pid}_${tables++}`;

/** With `ids` rows. */
export async function numbers(sql: Sql, ids: number): Promise<string> {
  const table = freshTable();
  await sql.execute(`create table ${table} (id integer primary key, n integer, v text)`);
  const rows = Array.from({ length: ids }, (_, index) => [index + 1, 0, `v${index + 1}`]);
  const places = rows.map(() => '(?, ?, ?)').join(', ');
  await sql.execute(`insert into ${table} (id, n, v) values ${places}`, rows.flat());
  return table;
}
