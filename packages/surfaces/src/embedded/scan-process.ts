/**
 * A process that looks through a database file. A process rather than a thread: SQLite inside a query cannot be
 * interrupted by `node:sqlite` (it has neither an interrupt nor a progress handler, and FTS5 calls nobody while it
 * matches a phrase), and a thread inside it cannot be terminated, but a process can be killed at any moment.
 */
import type { Answer } from '../database-answer.ts';
import { serveJobs } from '../jobs/serve-jobs.ts';
import type { OpenFile } from './database-files.ts';
import { openReads } from './reads.ts';
import { openSearchReads } from './search-reads.ts';
import { failure } from './serve.ts';
import type { Asked } from './wire.ts';

serveJobs<Asked, Answer>({
  open() {
    const file = JSON.parse(process.argv[2]!) as OpenFile;
    const server = file.file === 'search' ? openSearchReads(file) : openReads(file);
    return { answer: (asked) => server.answer([asked])[0]!, close: () => server.close() };
  },
  failure,
  limitsMemory: false,
});
