/**
 * The writer thread.
 *
 * I1  All requests that have arrived are one transaction and one sync; each fails alone.
 * I2  A write and the record of its answer are in the same transaction: there is no state in between.
 * I3  Nothing is answered before the commit.
 */
import type { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import type { Answer } from '../database-answer.ts';
import type { Operations } from './area.ts';
import { areasOf, factsOf, type OpenFile } from './database-files.ts';
import { openForWriting } from './open-file.ts';
import { failure, type Server, serve } from './serve.ts';
import type { Request } from './wire.ts';

type Act = (request: Request) => Answer;

/** The longer a checkpoint waits, the fewer pages it copies: those that many writes share are copied once. */
const CHECKPOINT_BYTES = 16_777_216;

function openWriter(file: OpenFile): Server {
  const facts = factsOf(file);
  const database = openForWriting(facts);
  database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_BYTES / facts.pageBytes}`);
  const act = undoing(database, journaled(database, file));
  return {
    answer(requests) {
      try {
        database.exec('begin immediate');
        const answers = requests.map(act);
        database.exec('commit');
        return answers;
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        return requests.map(() => failure(error));
      }
    },
    close: () => database.close(),
  };
}

/** A request that fails leaves nothing, and harms no other of its transaction. */
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
      // SQLite has given up the whole transaction, as on a full disk: then all requests fail
      if (!database.isTransaction) throw error;
      undo.run();
      release.run();
      return failure(error);
    }
  };
}

/** I2. */
function journaled(database: DatabaseSync, file: OpenFile): Act {
  const areas = new Map<string, Operations>(
    Object.entries(areasOf(file)).map(([name, area]) => [name, area.writes(database)]),
  );
  const find = database.prepare(
    'select method, fingerprint, answer from invocations where tenant = ? and place = ?',
  );
  const record = database.prepare('insert into invocations values (?, ?, ?, ?, ?, ?)');
  return ({ area, name, args, invocation }) => {
    const write = areas.get(area)?.[name];
    if (!write) throw new Error(`${area} has no write ${name}`);
    if (invocation === null) return { kind: 'done', value: write(...(args as never[])) };
    const { call, now } = invocation;
    const before = find.get(call.tenant, call.place);
    if (before) {
      const { method, fingerprint, answer } = before;
      const value: unknown = JSON.parse(String(answer));
      return { kind: 'recorded', value, method: String(method), fingerprint: String(fingerprint) };
    }
    const value = write(...(args as never[]));
    record.run(call.tenant, call.place, call.method, call.fingerprint, JSON.stringify(value ?? null), now);
    return { kind: 'done', value };
  };
}

serve(() => openWriter(workerData as OpenFile));
