import type { DatabaseSync } from 'node:sqlite';
import type { LossReason, Write } from '../../port.ts';
import type { BlobWrites } from '../blobs.ts';
import { prepareContents, preparePutDefinition, preparePutKey, prepareWorkflows } from './catalogue.ts';
import {
  prepareAdjust,
  prepareDeleteEntry,
  prepareExpectEntry,
  prepareExpectLease,
  preparePutEntry,
} from './entries.ts';
import { prepareIdempotency } from './idempotency.ts';
import { prepareClaimInvocation, prepareSettleInvocation, prepareTellInvocation } from './invocations.ts';
import { prepareAppend, prepareCreateRun } from './runs.ts';

/** A number is the new value of a counter. */
export type Verdict = 'won' | LossReason | number;

/** Does one write. A write that loses has changed nothing. */
export type Apply<K extends Write['kind']> = (write: Extract<Write, { kind: K }>) => Verdict;

export function prepareApply(database: DatabaseSync, blobs: BlobWrites): (write: Write) => Verdict {
  const apply: { readonly [K in Write['kind']]: Apply<K> } = {
    createRun: prepareCreateRun(database, blobs),
    append: prepareAppend(database, blobs),
    idempotency: prepareIdempotency(database, blobs),
    claimInvocation: prepareClaimInvocation(database, blobs),
    settleInvocation: prepareSettleInvocation(database, blobs),
    tellInvocation: prepareTellInvocation(database),
    putDefinition: preparePutDefinition(database, blobs),
    ...prepareContents(database),
    ...prepareWorkflows(database),
    putKey: preparePutKey(database),
    putEntry: preparePutEntry(database, blobs),
    deleteEntry: prepareDeleteEntry(database, blobs),
    expectEntry: prepareExpectEntry(database),
    expectLease: prepareExpectLease(database),
    adjust: prepareAdjust(database),
  };
  return (write) => apply[write.kind](write as never);
}
