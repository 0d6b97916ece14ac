/**
 * Surfaces in a PostgreSQL database: schema `gantry_surfaces`, one pool for all ports.
 *
 * I1  `write` acts once for each invocation: its row is claimed first, so that a second call with the same id waits
 *     for the first and then reads its answer. What is thrown undoes claim and write.
 * I2  Nothing waits for ever: connecting, statements, locks and whole operations have an end.
 * I3  The driver connects anew by itself; what fails while the server is away is `storage_unavailable`.
 *
 * @example
 * const database = await openPostgresDatabase({ url });
 * const rows = await database.read((sql) => sql`select key from kv where tenant = ${tenant}`);
 * await database.write(call, async (tx) => { await tx`insert ...`; return { ok: true }; });
 */
import postgres from 'postgres';
import { assertSameCall } from '../call-journal.ts';
import type { PortWrite } from '../surface-call.ts';
import { explain, inTime, isTransient } from './errors.ts';
import { migrate } from './migrate.ts';

/** bigint columns hold milliseconds, counts and sequences: all are safe integers. */
type Types = { bigint: number };
export type Sql = postgres.Sql<Types>;
export type Tx = postgres.TransactionSql<Types>;

export interface PostgresDatabase {
  /** For what is no single operation, such as LISTEN. Its errors are the driver's. */
  readonly sql: Sql;
  /** host:port, for messages. */
  readonly address: string;
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** I1. A lost race of transactions is tried again, so `work` may run more than once. */
  write<T extends object | null>(call: PortWrite, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A transaction that is nobody's call. */
  upkeep<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Rejects with `storage_unavailable` when the server does not answer. */
  health(): Promise<void>;
  /** Lets operations under way end. */
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_S = 5;
const STATEMENT_TIMEOUT_MS = 10_000;
const INT8 = 20;

export async function openPostgresDatabase(options: { readonly url: string }): Promise<PostgresDatabase> {
  const sql = connect(options.url);
  const address = `${sql.options.host[0]}:${sql.options.port[0]}`;
  const underWay = new Set<Promise<unknown>>();
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    const working = inTime(work());
    underWay.add(working);
    try {
      return await working;
    } catch (error) {
      throw explain(error, address);
    } finally {
      underWay.delete(working);
    }
  };
  const database: PostgresDatabase = {
    ...{ sql, address },
    read: (work) => guarded(() => work(sql)),
    write: (call, work) => guarded(() => transact(sql, (tx) => once(tx, call, work))),
    upkeep: (work) => guarded(() => transact(sql, work)),
    health: () => guarded(async () => void (await sql`select 1`)),
    async close() {
      await Promise.allSettled(underWay);
      // Told to wait, the driver also waits for connections that an outage has taken
      await sql.end({ timeout: 0 });
    },
  };
  try {
    await guarded(() => migrate(sql, address));
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
  return database;
}

/** `public` comes last: extensions such as vector live there. */
function connect(url: string): Sql {
  return postgres(url, {
    max: CONNECTIONS_MAX,
    connect_timeout: CONNECT_TIMEOUT_S,
    connection: {
      application_name: 'gantry-surfaces',
      search_path: 'gantry_surfaces, public',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
    onnotice: () => {},
    types: { bigint: { to: INT8, from: [INT8], parse: Number, serialize: String } },
  });
}

const ATTEMPTS_MAX = 20;

/** Every lost race means that another transaction won, so this ends. */
async function transact<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await sql.begin(work)) as T;
    } catch (error) {
      if (!isTransient(error) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** I1. */
async function once<T extends object | null>(
  tx: Tx,
  { tenant, now, invocation }: PortWrite,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { id, method, fingerprint } = invocation;
  const [claimed] = await tx`
    insert into invocations (tenant, id, method, fingerprint, answer, recorded_at)
    values (${tenant}, ${id}, ${method}, ${fingerprint}, '', ${now})
    on conflict do nothing returning 1
  `;
  if (!claimed) {
    const [before] = await tx<{ method: string; fingerprint: string; answer: string }[]>`
      select method, fingerprint, answer from invocations where tenant = ${tenant} and id = ${id}
    `;
    if (!before) throw new Error(`The invocation ${id} was forgotten while it was read`);
    assertSameCall(invocation, before);
    return JSON.parse(before.answer);
  }
  const answer = await work(tx);
  await tx`
    update invocations set answer = ${JSON.stringify(answer)}
    where tenant = ${tenant} and id = ${id}
  `;
  return answer;
}

export interface PostgresPool {
  /** Ports with the same address share one database. */
  open(url: string): Promise<PostgresDatabase>;
  close(): Promise<void>;
}

export function createPostgresPool(): PostgresPool {
  const opened = new Map<string, Promise<PostgresDatabase>>();
  return {
    open(url) {
      const known = opened.get(url) ?? openPostgresDatabase({ url });
      opened.set(url, known);
      known.catch(() => opened.delete(url));
      return known;
    },
    async close() {
      const databases = await Promise.allSettled(opened.values());
      opened.clear();
      await Promise.all(databases.map((each) => each.status === 'fulfilled' && each.value.close()));
    },
  };
}
