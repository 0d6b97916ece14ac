/**
 * Runs one job after another. A process, not a thread: `node:sqlite` cannot interrupt a query and
 * `terminate()` of a thread inside one never resolves. A process can be killed, and SQLite then keeps or rolls
 * back its transaction.
 */
import { serveJobs } from '../jobs/serve-jobs.ts';
import type { Answer } from '../refusal.ts';
import { SqliteConnections } from './sqlite-connections.ts';
import { sqliteFailure } from './sqlite-errors.ts';
import { execute, look, query, queryTables } from './sqlite-jobs.ts';
import type { SqliteJob } from './sqlite-wire.ts';

const connections = new SqliteConnections();

function answer(job: SqliteJob, onCommitting: () => void): Answer {
  switch (job.kind) {
    case 'query':
      return { kind: 'done', value: query(connections.reading(job.file), job) };
    case 'execute':
      return execute(connections.writing(job.file), job, onCommitting);
    case 'tables':
      return { kind: 'done', value: queryTables(job) };
    case 'health':
      look(connections.reading(job.file));
      return { kind: 'done', value: null };
  }
}

serveJobs<SqliteJob, Answer>({
  open: () => ({ answer, close: () => connections.close() }),
  failure(error) {
    const failure = sqliteFailure(error);
    // The operator may replace the open file with a valid one
    if (failure.kind === 'refused' && failure.code === 'storage_unavailable') connections.close();
    return failure;
  },
  limitsMemory: true,
});
