/**
 * Scans a database file. A process, not a thread: `node:sqlite` cannot interrupt a query (FTS5 has no hook inside a
 * phrase), but a process can be killed.
 */
import { existsSync } from 'node:fs';
import { noIndex } from '../capabilities/search/refusals.ts';
import { serveJobs } from '../jobs/serve-jobs.ts';
import { type Answer, failure } from '../refusal.ts';
import { factsOf, type OpenFile } from './database-files.ts';
import { openForReading, versionOf } from './open-file.ts';
import { openReads, readsOf } from './reads.ts';
import { TenantFiles } from './search-files.ts';
import type { Server } from './serve.ts';
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

export function openSearchReads(file: OpenFile): Server {
  const files = new TenantFiles((tenant) => openTenant(file, tenant));
  const answer = (request: Asked): Answer => {
    const [tenant, index] = request.args;
    if (request.name === 'ping') return { kind: 'done', value: null };
    try {
      const reads = files.get(String(tenant));
      return reads ? reads.answer([request])[0]! : failure(noIndex(String(index)));
    } catch (error) {
      return failure(error);
    }
  };
  return { answer: (requests) => requests.map(answer), close: () => files.close() };
}

/** Null for a tenant that never indexed anything: reading creates no file. */
function openTenant(file: OpenFile, tenant: string): Server | null {
  const facts = factsOf(file, tenant);
  if (!existsSync(facts.path)) return null;
  const database = openForReading(facts);
  // The writer is about to create the schema
  if (versionOf(database) === 0) {
    database.close();
    return null;
  }
  return readsOf(database, file);
}
