import { checkGroups } from '../check.ts';
import type { CommitGroup, CommitResult } from '../port.ts';
import { collectBlobChanges } from './blobs.ts';
import { decide } from './decide.ts';
import { lockKnown } from './known.ts';
import { announce } from './notices.ts';
import { type Sql, transact } from './sql.ts';
import { writeCatalogue } from './write/catalogue.ts';
import { writeEntries } from './write/entries.ts';
import { writeIdempotency, writeInvocations } from './write/records.ts';
import { writeRuns } from './write/runs.ts';

/**
 * Lock what the groups compare against, decide in memory, write the winners: a dozen statements however many
 * groups there are. A key that another transaction created in between shows at the insert, and all is done again.
 * One statement at a time: one that was still to come when another failed would run outside the transaction.
 */
export function commit(sql: Sql, groups: readonly CommitGroup[], processId: string): Promise<CommitResult[]> {
  checkGroups(groups);
  return transact(sql, async (tx) => {
    const known = await lockKnown(tx, groups);
    const replaced = new Set(known.idempotency.keys());
    const stored = new Set(known.entries.keys());
    const { results, won } = decide(groups, known);
    const blobs = collectBlobChanges(tx);
    await writeRuns(tx, won, blobs);
    await writeIdempotency(tx, won, replaced, blobs);
    await writeInvocations(tx, won, blobs);
    await writeCatalogue(tx, won, blobs);
    await writeEntries(tx, won, stored, blobs);
    await blobs.flush();
    await announce(tx, processId, won);
    return results;
  });
}
