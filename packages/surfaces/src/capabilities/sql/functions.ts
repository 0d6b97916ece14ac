/**
 * Functions that reach beyond the rows of a statement: files, servers, sessions, settings, locks, SQL in text.
 * The rights of the database user are the boundary; this list limits the damage of a mistake in them.
 */
import type { SqlDialect } from '../../ports/sql.ts';
import type { Token } from './tokens.ts';

/** Names or patterns, separated by spaces. */
const patternOf = (names: string): RegExp => new RegExp(`^(?:${names.trim().split(/\s+/).join('|')})$`);

/** Functions of SQLite and its shell, and of MySQL, MariaDB and their common extensions. */
const OF_OTHERS = patternOf(String.raw`
  load_extension readfile writefile edit fts3_tokenizer load_file sleep benchmark
  get_lock release_lock release_all_locks is_free_lock is_used_lock sys_(?:exec|eval|get|set)
  service_(?:get|release)_\w+ version_tokens_\w+ keyring_\w+ (?:master|source)_(?:pos|gtid)_wait
  wait_(?:for|until)_\w+ wsrep_\w+ spider_\w+ group_replication_\w+ asynchronous_connection_failover_\w+
`);

/**
 * `postgres.test.ts` checks these against every function of a running server that does more than compute:
 * those that run SQL in their text; settings of the session; files and large objects; other sessions and the
 * server itself.
 */
const OF_POSTGRES = patternOf(String.raw`
  ts_rewrite ts_stat (?:query|cursor|table|schema|database)_to_xml\w* crosstab\w* connectby xpath_table dblink\w*
  run_command_on_\w+ query_export_to_s3 plpgsql_\w+
  set_config setseed pg_(?:replication|backup|export|stop)_\w+ binary_upgrade_\w+
  pg_(?:read|ls|file|stat_file|current_logfile|rotate|hba|ident|show_all_file)\w* loread lowrite
  lo_(?:import|export|open|close|creat|create|from_bytea|get|put|unlink|lseek|lseek64|tell|tell64|truncate|truncate64)
  pg_(?:sleep|terminate|cancel|notify|advisory|try_advisory|log|logical|promote|switch|sync|reload)\w*
  pg_(?:create|drop|copy|clear|restore|import|extension|wal_replay|stat_reset|stat_force|stat_clear)\w*
  pg_(?:nextoid|isolation_test_session_is_blocked|get_aios|get_loaded_modules) currtid2
  brin_(?:de)?summarize_\w+ gin_clean_pending_list
`);

/** All other functions that begin with `pg_` are refused: each version of PostgreSQL adds new ones. */
const HARMLESS_OF_POSTGRES = patternOf(String.raw`
  pg_typeof pg_column_size pg_column_compression pg_size_pretty pg_size_bytes pg_input_is_valid pg_input_error_info
  pg_collation_for pg_get_serial_sequence pg_get_(?:\w+def|expr|keywords|userbyid|function_\w+) pg_\w+_is_visible
  pg_(?:database|relation|table|indexes|total_relation|tablespace)_size pg_sequence_last_value
  pg_partition_(?:ancestors|tree|root) pg_is_in_recovery pg_postmaster_start_time pg_timezone_(?:names|abbrevs)
  pg_current_(?:snapshot|xact_id) pg_describe_object
  pg_(?:client_encoding|encoding_to_char|char_to_encoding|my_temp_schema|backend_pid)
`);

/** A table with its columns follows, not a function with its arguments. */
const BEFORE_TABLES = new Set(['into', 'table', 'exists', 'references']);

/** The function at `index` if the statement may not use it. */
export function forbiddenFunction(
  tokens: readonly Token[],
  index: number,
  dialect: SqlDialect,
): string | null {
  const { kind, text } = tokens[index]!;
  const before = tokens[index - 1];
  if ((kind !== 'word' && kind !== 'name') || (before?.kind === 'word' && BEFORE_TABLES.has(before.text)))
    return null;
  const isCalled = tokens[index + 1]?.text === '(';
  // Tested: PostgreSQL reads `(a).f` and `t.f` as `f(a)` and `f(t)` when there is no such column
  const isMember = dialect === 'postgres' && before?.text === '.';
  if ((isCalled || isMember) && OF_POSTGRES.test(text)) return text;
  if (isCalled && OF_OTHERS.test(text)) return text;
  const isUnknown = dialect === 'postgres' && text.startsWith('pg_') && !HARMLESS_OF_POSTGRES.test(text);
  return isCalled && isUnknown ? text : null;
}
