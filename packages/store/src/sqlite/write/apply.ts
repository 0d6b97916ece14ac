import type { DatabaseSync } from 'node:sqlite';
import type { Write } from '../../port.ts';
import { prepareBlobWrites } from '../blobs.ts';
import { preparePutDefinition, preparePutKey, preparePutWorkflow } from './catalogue.ts';
import { prepareDeleteEntry, preparePutEntry } from './entries.ts';
import { prepareIdempotency } from './idempotency.ts';
import { prepareClaimInvocation, prepareSettleInvocation } from './invocations.ts';
import { prepareAppend, prepareCreateRun } from './runs.ts';

export type Verdict = 'won' | 'stale' | 'exists';

/** Does one write. A write that loses has changed nothing. */
export type Apply<K extends Write['kind']> = (write: Extract<Write, { kind: K }>) => Verdict;

export function prepareApply(database: DatabaseSync): (write: Write) => Verdict {
  const blobs = prepareBlobWrites(database);
  const createRun = prepareCreateRun(database, blobs);
  const append = prepareAppend(database, blobs);
  const idempotency = prepareIdempotency(database, blobs);
  const claimInvocation = prepareClaimInvocation(database, blobs);
  const settleInvocation = prepareSettleInvocation(database, blobs);
  const putDefinition = preparePutDefinition(database, blobs);
  const putWorkflow = preparePutWorkflow(database);
  const putKey = preparePutKey(database);
  const putEntry = preparePutEntry(database, blobs);
  const deleteEntry = prepareDeleteEntry(database, blobs);
  return (write) => {
    switch (write.kind) {
      case 'createRun':
        return createRun(write);
      case 'append':
        return append(write);
      case 'idempotency':
        return idempotency(write);
      case 'claimInvocation':
        return claimInvocation(write);
      case 'settleInvocation':
        return settleInvocation(write);
      case 'putDefinition':
        return putDefinition(write);
      case 'putWorkflow':
        return putWorkflow(write);
      case 'putKey':
        return putKey(write);
      case 'putEntry':
        return putEntry(write);
      case 'deleteEntry':
        return deleteEntry(write);
    }
  };
}
