import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressOf, readServer } from '@gantry/postgres';
import type { Store } from '../port.ts';
import { DatabaseClock, databaseMs } from './clock.ts';
import { commit } from './commit.ts';
import { CommitMarks } from './commit-marks.ts';
import { createSchema } from './create-schema.ts';
import { badUrl, explain, explainOpening, explainWrite } from './errors.ts';
import { fairReads } from './fair-reads.ts';
import { feedReads } from './feed.ts';
import { countProcesses, leases } from './leases.ts';
import { Announcer, LOOK_AT_EVERYTHING } from './notices.ts';
import { Presence } from './presence.ts';
import { entryReads } from './read/entries.ts';
import { recordReads } from './read/records.ts';
import { runReads } from './read/runs.ts';
import { retention } from './retention.ts';
import { connect } from './sql.ts';

const CLOSE_TIMEOUT_S = 5;
const STATEMENT_TIMEOUT_MS = 15_000;
const OUTCOME_TIMEOUT_MS = 10_000;
const ANNOUNCE_MS_MAX = 2_000;

export interface PostgresStoreOptions {
  readonly url: string;
  /** A statement without an answer for this long closes its connection. The schema and sweeps may take longer. */
  readonly statementTimeoutMs?: number;
  /** If the answer of a commit was lost and it cannot be looked up for this long, its outcome is unknown. */
  readonly outcomeTimeoutMs?: number;
}

/**
 * Opens (or creates) the store in a PostgreSQL database. Rejects with a `StoreError`.
 *
 * @example const store = await openPostgres({ url: 'postgres://gantry@localhost/gantry' });
 */
export async function openPostgres(options: PostgresStoreOptions): Promise<Store> {
  const { url, statementTimeoutMs = STATEMENT_TIMEOUT_MS, outcomeTimeoutMs = OUTCOME_TIMEOUT_MS } = options;
  const address = addressIn(url);
  const sql = connect({ url, statementTimeoutMs });
  const clock = new DatabaseClock();
  try {
    await createSchema(sql, address);
    await clock.sync(async () => (await sql<[{ databaseMs: number }]>`select ${databaseMs(sql)}`)[0]);
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw explainOpening(error, address);
  }
  const processId = randomUUID();
  const announcer = new Announcer(sql, processId);
  const presence = new Presence(sql, processId);
  const onSettledLate = (): void => presence.tell(LOOK_AT_EVERYTHING);
  const marks = new CommitMarks({ sql, outcomeTimeoutMs, onSettledLate });
  const reads = fairReads(runReads(sql), entryReads(sql));
  return {
    now: clock.now,
    processes: explaining(address, () => countProcesses(sql, clock.now())),
    commit: explaining(address, (groups) => commit({ sql, marks, announcer }, groups)),
    runs: explainingAll(address, reads.runs),
    records: explainingAll(address, recordReads(sql)),
    entries: explainingAll(address, reads.entries),
    feed: explainingAll(address, feedReads(sql)),
    watch: explaining(address, presence.watch),
    leases: explainingAll(address, leases({ sql, processId, clock, presence }), explainWrite),
    retention: explainingAll(address, retention(sql)),
    async close() {
      marks.close();
      await Promise.race([announcer.close(), sleep(ANNOUNCE_MS_MAX, undefined, { ref: false })]);
      await sql.end({ timeout: CLOSE_TIMEOUT_S });
    },
  };
}

/** For messages, which contain no other part of the URL. */
function addressIn(url: string): string {
  try {
    return addressOf(readServer(url));
  } catch (error) {
    throw error instanceof Error ? badUrl(error) : error;
  }
}

type Operation<A extends unknown[], R> = (...args: A) => Promise<R>;

function explaining<A extends unknown[], R>(
  address: string,
  operation: Operation<A, R>,
  explainError = explain,
): Operation<A, R> {
  return async (...args) => {
    try {
      return await operation(...args);
    } catch (error) {
      throw explainError(error, address);
    }
  };
}

function explainingAll<T extends object>(address: string, operations: T, explainError = explain): T {
  const wrapped = Object.entries(operations).map(([name, operation]) => [
    name,
    explaining(address, operation, explainError),
  ]);
  return Object.fromEntries(wrapped) as T;
}
