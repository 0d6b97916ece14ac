/** The reader thread: every read, on a connection of its own, so that a slow query never delays a commit. */
import { serve } from './channel.ts';
import { openForReading } from './database.ts';
import { explain } from './errors.ts';
import { prepareEntryReads } from './read/entries.ts';
import { prepareFeedReads } from './read/feed.ts';
import { prepareRecordReads } from './read/records.ts';
import { prepareRunReads } from './read/runs.ts';

export type ReaderOperations = ReturnType<typeof openReader>;

function openReader(dataDir: string) {
  const database = openForReading(dataDir);
  return {
    ...prepareRunReads(database),
    ...prepareRecordReads(database),
    ...prepareEntryReads(database),
    ...prepareFeedReads(database),
    close: (): void => database.close(),
  };
}

serve({ open: openReader, explain });
