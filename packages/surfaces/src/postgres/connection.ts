/**
 * Surfaces in a PostgreSQL database: schema `gantry_surfaces`, one pool for all ports.
 *
 * I1  `write` acts once per invocation: it claims a row first, so that a second call with the same id waits
 *     for the first and then reads its answer. An error rolls back claim and write.
 * I2  Nothing waits forever: connecting, statements, locks and whole operations have timeouts.
 * I3  Connects and creates the schema on first use. A lost connection is discarded, and the next call makes a
 *     new one. Calls fail with `storage_unavailable` while the server is unreachable.
 *
 * @example
 * const database = openPostgresDatabase({ url });
 * const rows = await database.read((sql) => sql`select key from kv where tenant = ${tenant}`);
 * await database.write(call, async (tx) => { await tx`insert ...`; return { ok: true }; });
 */
import { addressOf, openPostgres, readServer, type Sql, type Tx } from '@gantry/postgres';
import { noteWrite, recordedAnswer } from '../calls/call-journal.ts';
import { recordText } from '../calls/sealed-answer.ts';
import type { PortWrite } from '../calls/surface-call.ts';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { createSchema } from './create-schema.ts';
import { explain, explainOpening, explainRead, operation, untilWon } from './errors.ts';
import { type Act, type Area, type Caller, together } from './together.ts';

export type { Sql, Tx } from '@gantry/postgres';

export interface PostgresDatabase {
  /** Resumes after an outage. Calls `onListening` each time: earlier notices may have been missed. */
  listen(channel: string, onNotice: (notice: string) => void, onListening: () => void): Promise<void>;
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** See I1. Retries after a lost race of transactions, so `work` may run more than once. */
  write<T extends object | null>(call: PortWrite, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** See I1. Calls of one tenant to the area share transactions. */
  together<State, A extends Act<State>>(area: Area<State, A>): Writes<State, A>;
  /** A transaction without a recorded call. */
  upkeep<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Rejects with `storage_unavailable` when the server does not answer. */
  health(): Promise<void>;
  close(): Promise<void>;
}

export type Writes<State, A extends Act<State>> = <T extends object | null>(
  caller: Caller,
  act: A & { decide(state: State, tx: Tx): T | Promise<T> },
) => Promise<T>;

const CONNECTIONS_MAX = 8;
const CONNECT_TIMEOUT_S = 5;
const STATEMENT_TIMEOUT_MS = 10_000;

/** Throws for an invalid URL (`readServer`). */
export function openPostgresDatabase({ url }: { readonly url: string }): PostgresDatabase {
  const address = addressOf(readServer(url));
  const opened = openedWhenNeeded({ open: () => open(url, address), close: end });
  const underWay = new Set<Promise<unknown>>();
  const guarded = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    const working = operation(opened.get().then(work));
    underWay.add(working);
    try {
      return await working;
    } catch (error) {
      throw explain(error, address);
    } finally {
      underWay.delete(working);
    }
  };
  return {
    listen: (...wanted) => guarded(async (sql) => void (await sql.listen(...wanted))),
    read: (work) =>
      guarded((sql) =>
        work(sql).catch((error: unknown) => {
          throw explainRead(error);
        }),
      ),
    async write(call, work) {
      noteWrite(call.invocation);
      return guarded((sql) => transact(sql, (tx) => once(tx, call, work)));
    },
    together(area) {
      const perform = together(area);
      return async (caller, act) => {
        if ('invocation' in caller) noteWrite(caller.invocation);
        return guarded((sql) => perform(sql, caller, act));
      };
    },
    upkeep: (work) => guarded((sql) => transact(sql, work)),
    health: () => guarded(async (sql) => void (await sql`select 1`)),
    async close() {
      await Promise.allSettled(underWay);
      await opened.close();
    },
  };
}

async function open(url: string, address: string): Promise<Sql> {
  const sql = connect(url);
  try {
    await operation(createSchema(sql, address));
    return sql;
  } catch (error) {
    await end(sql);
    throw explainOpening(error, address);
  }
}

/** With a timeout, the driver would also wait for connections that were lost in an outage. */
const end = (sql: Sql): Promise<void> => sql.end({ timeout: 0 });

/** `public` comes last: extensions such as vector are there. */
const connect = (url: string): Sql =>
  openPostgres({
    url,
    connectionsMax: CONNECTIONS_MAX,
    connectTimeoutS: CONNECT_TIMEOUT_S,
    connection: {
      application_name: 'gantry-surfaces',
      search_path: 'gantry_surfaces, public',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });

const transact = <T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> =>
  untilWon(async () => (await sql.begin(work)) as T);

/** See I1. */
async function once<T extends object | null>(
  tx: Tx,
  { tenant, now, invocation }: PortWrite,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { journalKey, method, fingerprint } = invocation;
  const [claimed] = await tx`
    insert into invocations (tenant, journal_key, method, fingerprint, answer, recorded_at)
    values (${tenant}, ${journalKey}, ${method}, ${fingerprint}, '', ${now})
    on conflict do nothing returning 1
  `;
  if (!claimed) {
    const [before] = await tx<{ method: string; fingerprint: string; answer: string }[]>`
      select method, fingerprint, answer from invocations where tenant = ${tenant} and journal_key = ${journalKey}
    `;
    if (!before) throw new Error(`The invocation at ${journalKey} was forgotten while it was read`);
    return recordedAnswer(invocation, before) as T;
  }
  const answer = await work(tx);
  await tx`
    update invocations set answer = ${recordText(invocation, answer)}
    where tenant = ${tenant} and journal_key = ${journalKey}
  `;
  return answer;
}
