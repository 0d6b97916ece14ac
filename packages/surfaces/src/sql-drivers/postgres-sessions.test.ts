import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { SQL_CONTRACT_LIMITS } from '../ports/sql-contract.ts';
import { type SessionChange, SHARED_TABLE, sqlSessionsContract } from '../ports/sql-sessions-contract.ts';
import { read } from '../testing/calls.ts';
import { postgresBackend } from './postgres.ts';

const found = await freshDatabase();

const setting = (name: string, value: string): SessionChange => ({
  change: `select set_config('${name}', '${value}', false)`,
  look: `select current_setting('${name}')`,
});
/** SQL in the text of a value, in which nothing is judged. */
const INNER =
  "select ''a''::tsquery, ''b''::tsquery where set_config(''default_transaction_read_only'', ''off'', false) is not null";

const CHANGES: readonly SessionChange[] = [
  setting('search_path', 'elsewhere'),
  setting('statement_timeout', '0'),
  setting('role', 'pg_monitor'),
  {
    change: `select ts_rewrite('a'::tsquery, '${INNER}')`,
    look: "select current_setting('default_transaction_read_only')",
  },
  {
    change: "update pg_settings set setting = '1234' where name = 'work_mem'",
    look: "select current_setting('work_mem')",
  },
  { change: `create temp table ${SHARED_TABLE} (v text)`, look: `select count(*) from ${SHARED_TABLE}` },
  { change: 'prepare theirs as select 1', look: 'select count(*) from pg_prepared_statements' },
  { change: 'listen theirs', look: 'select count(*) from pg_listening_channels()' },
  {
    change: 'select pg_advisory_lock_shared(7)',
    look: "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
  },
  {
    change: 'declare theirs cursor with hold for select 1',
    look: "select count(*) from pg_cursors where name = 'theirs'",
  },
];

if ('skip' in found) test('sessions with PostgreSQL', { skip: found.skip });
else
  describe('sessions with PostgreSQL', () => {
    after(() => found.drop());
    sqlSessionsContract('PostgreSQL', {
      open: (timeoutMs = SQL_CONTRACT_LIMITS.timeoutMs) =>
        postgresBackend({ url: found.url, limits: { ...SQL_CONTRACT_LIMITS, timeoutMs } }),
      slow: 'select pg_sleep(60)',
      large: { sql: 'select repeat(?, ?::int) as v', values: ['x'.repeat(10_000), 10_000] },
      changes: CHANGES,
    });

    test('a query cannot take itself back to writing', async (t) => {
      const backend = postgresBackend({ url: found.url, limits: SQL_CONTRACT_LIMITS });
      t.after(() => backend.close());
      const change = "set_config('transaction_read_only', 'off', true)";
      const quoted = change.replaceAll("'", "''");
      const within = `select ts_rewrite('a'::tsquery, 'select ''a''::tsquery, ${quoted}::tsquery')`;
      for (const text of [`select ${change}`, within]) {
        const statement = { kind: 'rows', pieces: [text], gaps: [], values: [] } as const;
        await assert.rejects(backend.query(statement, read('acme')), /must be set before any query/);
      }
    });
  });
