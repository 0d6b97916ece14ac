/** The writer thread executes every commit, lease, claim and deletion. Only it holds the lock of the folder. */

import type { DatabaseSync } from 'node:sqlite';
import type { Batch, ResultCode } from './batch.ts';
import { prepareBlobWrites } from './blobs.ts';
import { prepareBodyParts } from './body-parts.ts';
import { serve } from './channel.ts';
import { prepareCommit } from './commit.ts';
import { createSchema } from './create-schema.ts';
import { openForWriting } from './database.ts';
import { explain } from './errors.ts';
import { createFolder } from './files.ts';
import { prepareLeases } from './leases.ts';
import { lockFolder } from './lock.ts';
import { prepareRetention } from './retention.ts';
import { prepareTransaction } from './transaction.ts';

export type WriterParts = ReturnType<typeof openWriter>['parts'];

function openWriter(dataDir: string) {
  createFolder(dataDir);
  const unlock = lockFolder(dataDir);
  let database: DatabaseSync | null = null;
  try {
    database = openForWriting(dataDir);
    createSchema(database, dataDir);
    return prepareOperations(database, unlock);
  } catch (error) {
    database?.close();
    unlock();
    throw error;
  }
}

function prepareOperations(database: DatabaseSync, unlock: () => void) {
  const transaction = prepareTransaction(database);
  const parts = prepareBodyParts(database, transaction);
  const blobs = prepareBlobWrites(database, parts.drop);
  const commitAll = prepareCommit(database, transaction, blobs, parts.releaseOf);
  return {
    parts: {
      bodies: parts.operations,
      batches: { commit: (batch: Batch) => commitAll([batch])[0] as ResultCode[], commitAll },
      leases: prepareLeases(database, transaction),
      retention: prepareRetention(database, transaction, blobs, parts.sweep),
    },
    close(): void {
      database.close();
      unlock();
    },
  };
}

serve({ open: openWriter, explain, together: { 'batches.commit': 'batches.commitAll' } });
