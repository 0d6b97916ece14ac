/**
 * A process that runs one job after the other. A process rather than a thread: SQLite inside a query cannot be
 * interrupted by `node:sqlite`, and a thread inside it cannot be terminated (tried: `terminate()` never resolves), but
 * a process can be killed at any moment, and SQLite keeps or drops the transaction as a whole.
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
    // A sound file may be put in the place of what is open here
    if (failure.kind === 'refused' && failure.code === 'storage_unavailable') connections.close();
    return failure;
  },
  limitsMemory: true,
});
