import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import postgres from 'postgres';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { statementOf } from '../capabilities/sql/template.ts';
import { HASTY_LIMITS, SQL_CONTRACT_LIMITS, sqlContract } from '../ports/sql-contract.ts';
import { SQL_SERVER_TIMEOUT_MS, sqlServerContract } from '../ports/sql-server-contract.ts';
import { postgresBackend } from './postgres.ts';

/**
 * Volatile functions that were looked at: they make numbers and times, use sequences, or tell of tables. Whatever else
 * a server has may run SQL, reach files, or change what outlives the call.
 */
const HARMLESS = new Set([
  'amvalidate',
  'array_sample',
  'array_shuffle',
  'clock_timestamp',
  'current_query',
  'gen_random_uuid',
  'currval',
  'lastval',
  'nextval',
  'setval',
  'random',
  'random_normal',
  'timeofday',
  'txid_status',
  'uuidv4',
  'uuidv7',
  'pg_database_size',
  'pg_indexes_size',
  'pg_is_in_recovery',
  'pg_relation_size',
  'pg_partition_ancestors',
  'pg_partition_tree',
  'pg_sequence_last_value',
  'pg_table_size',
  'pg_tablespace_size',
  'pg_total_relation_size',
]);
/** They only tell, so that as a column they are no danger; as a function they are refused with all of `pg_`. */
const TELLS =
  /^pg_(?:stat_(?:get|have)|get|blocking|safe|collation|database_collation|xact|available|wal_summary)_/;
/** Without those that SQL cannot call, with those that read whole tables as text. */
const FUNCTIONS = `
  select proname as name, bool_or(pronargs - pronargdefaults <= 1 and pronargs > 0) as "takesOne"
  from pg_proc
  where pronamespace = 'pg_catalog'::regnamespace and prokind in ('f', 'p')
    and (provolatile = 'v' or proname ~ '_to_xml')
    and 'internal'::regtype <> all (proargtypes)
    and format_type(prorettype, null) !~ 'internal|trigger|handler'
  group by proname order by proname`;

const isRefused = (sql: string): boolean => {
  try {
    statementOf({ sql, params: [] }, 'query', 'postgres');
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'datasource_access_denied';
  }
};

const found = await freshDatabase();

if ('skip' in found) test('PostgreSQL as a data source', { skip: found.skip });
else
  describe('PostgreSQL as a data source', () => {
    after(() => found.drop());
    const { url } = found;
    sqlContract('PostgreSQL', async () => {
      const backend = postgresBackend({ url, limits: SQL_CONTRACT_LIMITS });
      const hasty = postgresBackend({ url, limits: HASTY_LIMITS });
      const words = {
        bigKey: 'bigint primary key',
        bytes: 'bytea',
        time: 'timestamp',
        zonedTime: 'timestamptz',
      };
      return {
        backend,
        hasty,
        words,
        close: async () => void (await Promise.all([backend.close(), hasty.close()])),
      };
    });
    sqlServerContract('PostgreSQL', {
      url,
      open: (address) =>
        postgresBackend({
          url: address,
          limits: { ...SQL_CONTRACT_LIMITS, timeoutMs: SQL_SERVER_TIMEOUT_MS },
        }),
    });

    test('every function of the server that does more than compute is known, and refused unless it is harmless', async (t) => {
      const server = postgres(url, { max: 1 });
      t.after(() => server.end());
      const functions = await server.unsafe<{ name: string; takesOne: boolean }[]>(FUNCTIONS);
      const names = functions.map(({ name }) => name).filter((name) => !HARMLESS.has(name));
      assert.ok(names.length > 50 && names.includes('ts_rewrite') && names.includes('pg_read_file'));
      assert.deepEqual(
        names.filter((name) => !isRefused(`select ${name}()`)),
        [],
      );
      const columns = functions.filter(({ takesOne }) => takesOne).map(({ name }) => name);
      assert.deepEqual(
        columns.filter(
          (name) => !HARMLESS.has(name) && !TELLS.test(name) && !isRefused(`select (a.b).${name} from a`),
        ),
        [],
      );
      for (const name of HARMLESS) assert.equal(isRefused(`select ${name}()`), false, name);
    });
  });
