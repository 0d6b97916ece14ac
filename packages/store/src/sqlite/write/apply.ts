import type { DatabaseSync } from 'node:sqlite';
import type { LossReason, Write } from '../../port.ts';
import type { BlobWrites } from '../blobs.ts';
import { queriesOn } from '../rows.ts';
import { catalogueWrites } from './catalogue.ts';
import { entryWrites } from './entries.ts';
import { recordWrites } from './records.ts';
import { runWrites } from './runs.ts';

/** A number is the new value of a counter. */
export type Verdict = 'won' | LossReason | number;

/** Executes one write per kind. A losing write has changed nothing. */
export type Writes<Kinds extends Write['kind']> = {
  readonly [Kind in Kinds]: (write: Extract<Write, { kind: Kind }>) => Verdict;
};

export function prepareApply(database: DatabaseSync, blobs: BlobWrites): (write: Write) => Verdict {
  const queries = queriesOn(database);
  const apply: Writes<Write['kind']> = {
    ...runWrites(database, blobs),
    ...recordWrites(queries, blobs),
    ...catalogueWrites(queries, blobs),
    ...entryWrites(queries, blobs),
  };
  return (write) => apply[write.kind](write as never);
}
