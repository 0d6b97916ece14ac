/** The reader thread executes all reads on its own connection, so that a slow query never delays a commit. */
import { serve } from './channel.ts';
import { openForReading } from './database.ts';
import { explain } from './errors.ts';
import { entryReads } from './read/entries.ts';
import { feedReads } from './read/feed.ts';
import { recordReads } from './read/records.ts';
import { leaseReads, runReads } from './read/runs.ts';
import { queriesOn } from './rows.ts';

export type ReaderParts = ReturnType<typeof openReader>['parts'];

function openReader(dataDir: string) {
  const database = openForReading(dataDir);
  const queries = queriesOn(database);
  return {
    parts: {
      runs: runReads(database),
      records: recordReads(queries),
      entries: entryReads(database),
      feed: feedReads(queries),
      leases: leaseReads(database),
    },
    close: () => database.close(),
  };
}

serve({ open: openReader, explain });
