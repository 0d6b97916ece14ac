/**
 * Writes to one database file.
 *
 * I1  All requests that have arrived share one transaction and one sync; each fails alone.
 * I2  A write and the record of its answer are in the same transaction: there is no state in between.
 * I3  Nothing is answered before the commit.
 */
import type { DatabaseSync } from 'node:sqlite';
import { recordText } from '../calls/sealed-answer.ts';
import { type Answer, failure } from '../refusal.ts';
import { areasOf, factsOf, type OpenFile } from './database-files.ts';
import { openForWriting } from './open-file.ts';
import type { Server } from './serve.ts';
import { type Operations, Sql } from './statements.ts';
import { type Asked, CHECKPOINT, isAsked } from './wire.ts';

type Act = (request: Asked) => Answer;

/** A later checkpoint copies fewer pages: a page that many writes changed is copied once. */
const CHECKPOINT_BYTES = 16_777_216;
/** How long a requested checkpoint waits for reads by key. All writes wait with it. */
const CHECKPOINT_WAIT_MS = 500;

/** `tenant`: the owner of the file, if each tenant has its own. */
export function openWriter(file: OpenFile, tenant?: string): Server {
  const facts = factsOf(file, tenant);
  const database = openForWriting(facts);
  database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_BYTES / facts.pageBytes}`);
  const act = undoing(database, journaled(database, file));
  return {
    answer(requests) {
      try {
        database.exec('begin immediate');
        const answers = requests.map(act);
        database.exec('commit');
        if (requests.some((request) => isAsked(request, CHECKPOINT))) checkpoint(database);
        return answers;
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        return requests.map(() => failure(error));
      }
    },
    close: () => database.close(),
  };
}

/** A failed checkpoint does no harm: all writes are in the log, and another checkpoint follows. */
function checkpoint(database: DatabaseSync): void {
  const before = Number(database.prepare('pragma busy_timeout').get()?.timeout);
  database.exec(`pragma busy_timeout = ${CHECKPOINT_WAIT_MS}`);
  try {
    database.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // For example, the disk is full: writes report that themselves
  } finally {
    database.exec(`pragma busy_timeout = ${before}`);
  }
}

/** Rolls back a failed request without affecting others of its transaction. */
function undoing(database: DatabaseSync, act: Act): Act {
  const savepoint = database.prepare('savepoint request');
  const undo = database.prepare('rollback to request');
  const release = database.prepare('release request');
  return (request) => {
    savepoint.run();
    try {
      const answer = act(request);
      release.run();
      return answer;
    } catch (error) {
      // SQLite has rolled back the whole transaction, as on a full disk: then all requests fail
      if (!database.isTransaction) throw error;
      undo.run();
      release.run();
      return failure(error);
    }
  };
}

/** See I2. */
function journaled(database: DatabaseSync, file: OpenFile): Act {
  const areas = new Map<string, Operations>(
    Object.entries(areasOf(file)).map(([name, area]) => [name, area.writes(database)]),
  );
  areas.set(CHECKPOINT.area, { [CHECKPOINT.name]: () => null });
  const sql = new Sql(database);
  return ({ area, name, args, invocation }) => {
    const write = areas.get(area)?.[name];
    if (!write) throw new Error(`${area} has no write ${name}`);
    if (invocation === null) return { kind: 'done', value: write(...(args as never[])) };
    const { call, now } = invocation;
    const { tenant, journalKey, method, fingerprint } = call;
    const before = sql.get<{ method: string; fingerprint: string; answer: string }>`
      select method, fingerprint, answer from invocations where tenant = ${tenant} and journal_key = ${journalKey}
    `;
    if (before) return { kind: 'recorded', ...before };
    const value = write(...(args as never[]));
    const answer = recordText(call, value);
    sql.run`insert into invocations values (${tenant}, ${journalKey}, ${method}, ${fingerprint}, ${answer}, ${now})`;
    return { kind: 'done', value };
  };
}
