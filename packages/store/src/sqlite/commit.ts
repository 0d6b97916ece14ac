import type { DatabaseSync } from 'node:sqlite';
import type { CommitGroup, CommitResult } from '../port.ts';
import { type Batch, decodeBatch, encodeResult, type ResultCode } from './batch.ts';
import type { BlobWrites } from './blobs.ts';
import { Failed } from './channel.ts';
import { isOfContent } from './errors.ts';
import { prepareSavepoint, type Transaction } from './transaction.ts';
import { prepareApply } from './write/apply.ts';

/**
 * One transaction and sync for all queued batches.
 *
 * I1  A group that loses is undone by its savepoint. A single write needs none: a losing write changes nothing.
 * I2  A batch that throws is undone by its savepoint and fails alone: the other batches have other callers. A single
 *     batch is undone with the transaction.
 */
export function prepareCommit(
  database: DatabaseSync,
  transaction: Transaction,
  blobs: BlobWrites,
  onEnded: (batch: readonly CommitGroup[]) => void,
): (batches: readonly Batch[]) => (ResultCode[] | Failed)[] {
  const apply = prepareApply(database, blobs);
  const ofBatch = prepareSavepoint(database, 'commit_batch');
  const ofGroup = prepareSavepoint(database, 'commit_group');

  const applyGroup = (group: CommitGroup): CommitResult => {
    const values: number[] = [];
    for (const [write, each] of group.entries()) {
      const verdict = apply(each);
      if (typeof verdict === 'number') values.push(verdict);
      else if (verdict !== 'won') return { won: false, write, reason: verdict };
    }
    return values.length > 0 ? { won: true, values } : { won: true };
  };
  const applyAsOne = (group: CommitGroup): CommitResult => {
    if (group.length === 1) return applyGroup(group);
    ofGroup.begin();
    const result = applyGroup(group);
    if (!result.won) ofGroup.undo();
    ofGroup.release();
    return result;
  };
  const applyBatch = (groups: readonly CommitGroup[]): ResultCode[] =>
    groups.map((group) => encodeResult(applyAsOne(group)));
  const applyAlone = (groups: readonly CommitGroup[]): ResultCode[] | Failed => {
    ofBatch.begin();
    try {
      return applyBatch(groups);
    } catch (error) {
      if (!isOfContent(error)) throw error;
      ofBatch.undo();
      return new Failed(error);
    } finally {
      if (database.isTransaction) ofBatch.release();
    }
  };
  return (batches) => {
    const decoded = batches.map(decodeBatch);
    try {
      return transaction(() => decoded.map(decoded.length === 1 ? applyBatch : applyAlone));
    } finally {
      decoded.forEach(onEnded);
    }
  };
}
