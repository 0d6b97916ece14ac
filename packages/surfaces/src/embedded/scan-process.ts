/**
 * A process that looks through a database file. A process rather than a thread: SQLite inside a query cannot be
 * interrupted by `node:sqlite` (it has neither an interrupt nor a progress handler, and FTS5 calls nobody while it
 * matches a phrase), and a thread inside it cannot be terminated, but a process can be killed at any moment.
 */
import { Worker } from 'node:worker_threads';
import type { OpenFile } from './database-files.ts';
import { openReads } from './reads.ts';
import { openSearchReads } from './search-reads.ts';
import { failure } from './serve.ts';
import { OPENED, type Reply, type Request } from './wire.ts';

const send = (reply: Reply): void => void process.send?.(reply);

try {
  const file = JSON.parse(process.argv[2]!) as OpenFile;
  const server = file.file === 'search' ? openSearchReads(file) : openReads(file);
  process.on('message', (request: Request) => send([request.id, server.answer([request])[0]!]));
  send([OPENED, { kind: 'done', value: null }]);
} catch (error) {
  send([OPENED, failure(error)]);
}
process.on('disconnect', () => process.exit());
new Worker(new URL('../job-process/watchdog.ts', import.meta.url)).unref();
