import type { DatabaseSync } from 'node:sqlite';
import type { CommitGroup, CommitResult } from '../port.ts';
import { type Batch, decodeBatch, encodeResult, type ResultCode } from './batch.ts';
import type { BlobWrites } from './blobs.ts';
import type { Transaction } from './transaction.ts';
import { prepareApply } from './write/apply.ts';

/**
 * One transaction and sync for all queued batches. A single write needs no savepoint: a losing write changes nothing.
 */
export function prepareCommit(
  database: DatabaseSync,
  transaction: Transaction,
  blobs: BlobWrites,
  onEnded: (batch: readonly CommitGroup[]) => void,
): (batches: readonly Batch[]) => ResultCode[][] {
  const apply = prepareApply(database, blobs);
  const savepoint = database.prepare('savepoint commit_group');
  const undo = database.prepare('rollback to commit_group');
  const release = database.prepare('release commit_group');

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
    savepoint.run();
    const result = applyGroup(group);
    if (!result.won) undo.run();
    release.run();
    return result;
  };
  const applyBatch = (groups: readonly CommitGroup[]): ResultCode[] =>
    groups.map((group) => encodeResult(applyAsOne(group)));
  return (batches) => {
    const decoded = batches.map(decodeBatch);
    try {
      return transaction(() => decoded.map(applyBatch));
    } finally {
      decoded.forEach(onEnded);
    }
  };
}
