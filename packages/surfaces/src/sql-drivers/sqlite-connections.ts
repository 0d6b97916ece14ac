/** Connections to SQLite files. Features that would let SQL reach beyond its file are disabled. */
import { existsSync } from 'node:fs';
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import { createForOwner } from '../create-for-owner.ts';
import { Refusal } from '../refusal.ts';
import type { SqliteFile } from './sqlite-wire.ts';

const CONNECTIONS_MAX = 16;
const STATEMENTS_MAX = 64;
const BUSY_TIMEOUT_MS = 3_000;
const PAGE_BYTES = 4_096;
const VALUE_BYTES_MAX = 16_777_216;
const OURS = /^gantry_/i;

export interface Connection {
  readonly database: DatabaseSync;
  /** Prepares a statement of a node, with the authorizer active. */
  prepare(sql: string): StatementSync;
  /** Runs statements of the host. */
  unguarded<T>(work: () => T): T;
}

/** Keeps connections open; the least recently used is closed first. */
export class SqliteConnections {
  readonly #open = new Map<string, Connection>();

  reading(file: SqliteFile): Connection {
    if (file.owner === 'host') create(file.path);
    else mustExist(file.path);
    return this.#connection(`r:${file.path}`, () => guard(openFile(file.path, { readOnly: true })));
  }

  writing(file: SqliteFile): Connection {
    if (file.owner === 'operator') {
      mustExist(file.path);
      return this.#connection(`w:${file.path}`, () => guard(openFile(file.path)));
    }
    return this.#connection(`w:${file.path}`, () => {
      create(file.path);
      return guard(prepareOurs(openFile(file.path), file.bytesMax));
    });
  }

  close(): void {
    for (const { database } of this.#open.values()) database.close();
    this.#open.clear();
  }

  #connection(key: string, open: () => Connection): Connection {
    const connection = this.#open.get(key) ?? open();
    this.#open.delete(key);
    this.#open.set(key, connection);
    const [oldest] = this.#open.keys();
    if (this.#open.size > CONNECTIONS_MAX && oldest !== undefined) {
      this.#open.get(oldest)?.database.close();
      this.#open.delete(oldest);
    }
    return connection;
  }
}

function openFile(path: string, { readOnly = false } = {}): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS, defensive: true });
  database.limits.length = VALUE_BYTES_MAX;
  database.limits.attach = 0;
  database.exec('pragma trusted_schema = off');
  return database;
}

/** A query may arrive before anything was written. */
function create(path: string): void {
  if (existsSync(path)) return;
  createForOwner(path);
  prepareOurs(openFile(path), 0).close();
}

/** The journal is in the same file, so that a write and its record are one transaction. */
function prepareOurs(database: DatabaseSync, bytesMax: number): DatabaseSync {
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma journal_size_limit = 16777216;
    pragma max_page_count = ${bytesMax === 0 ? 4_294_967_294 : Math.ceil(bytesMax / PAGE_BYTES)};
    create table if not exists gantry_invocations (
      id text primary key, method text not null, fingerprint text not null, answer text not null,
      recorded_at integer not null
    ) strict, without rowid;
    create index if not exists gantry_invocations_by_time on gantry_invocations (recorded_at);
  `);
  return database;
}

function mustExist(path: string): void {
  if (!existsSync(path))
    throw new Refusal('storage_unavailable', {
      message: 'cannot find the database file of this data source. The operator must restore it.',
    });
}

const DENIED = new Set([
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  constants.SQLITE_PRAGMA,
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
  constants.SQLITE_CREATE_VTABLE,
  constants.SQLITE_DROP_VTABLE,
  constants.SQLITE_CREATE_TRIGGER,
  constants.SQLITE_CREATE_TEMP_TRIGGER,
  constants.SQLITE_CREATE_TEMP_TABLE,
  constants.SQLITE_CREATE_TEMP_INDEX,
  constants.SQLITE_CREATE_TEMP_VIEW,
]);
const DENIED_FUNCTIONS = new Set(['load_extension', 'fts3_tokenizer', 'readfile', 'writefile', 'edit']);
const DENIED_TABLES = /^(?:pragma_|gantry_|dbstat$|sqlite_dbpage$|sqlite_stmt$)/i;

/** Called by SQLite itself while it compiles a statement, so that no spelling bypasses it. */
function isAllowed(action: number, first: string | null, second: string | null): boolean {
  if (DENIED.has(action)) return false;
  if (action === constants.SQLITE_FUNCTION) return !DENIED_FUNCTIONS.has(second?.toLowerCase() ?? '');
  if (action === constants.SQLITE_READ) return !DENIED_TABLES.test(first ?? '');
  return !OURS.test(first ?? '') && !OURS.test(second ?? '');
}

export function guard(database: DatabaseSync): Connection {
  let isGuarded = true;
  database.setAuthorizer((action, first, second) =>
    !isGuarded || isAllowed(action, first, second) ? constants.SQLITE_OK : constants.SQLITE_DENY,
  );
  const statements = new Map<string, StatementSync>();
  return {
    database,
    prepare(sql) {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.delete(sql);
      statements.set(sql, statement);
      const [oldest] = statements.keys();
      if (statements.size > STATEMENTS_MAX && oldest !== undefined) statements.delete(oldest);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      return statement;
    },
    unguarded(work) {
      isGuarded = false;
      try {
        return work();
      } finally {
        isGuarded = true;
      }
    },
  };
}
