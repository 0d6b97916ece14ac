import { UnknownOutcomeError } from '@gantry/postgres';
import { checkGroups } from '../check.ts';
import type { CommitGroup, CommitResult, Write } from '../port.ts';
import { collectBlobChanges } from './blobs.ts';
import type { CommitMarks } from './commit-marks.ts';
import { decide } from './decide.ts';
import { writeFeed } from './feed.ts';
import { lockKnown } from './known.ts';
import type { Announcer } from './notices.ts';
import { Raced, type Tx } from './sql.ts';
import { writeCatalogue } from './write/catalogue.ts';
import { writeCounters, writeEntries } from './write/entries.ts';
import { writeIdempotency, writeInvocations } from './write/records.ts';
import { writeRuns } from './write/runs.ts';

const isCreate = (write: Write): boolean => write.kind === 'createRun';

/**
 * Lock what the groups compare against, decide in memory, write the winners: a dozen statements however many
 * groups there are. A key that another transaction created in between shows at the insert, and all is done again. So
 * does the id of a run that is taken: ids are made here, so a first try presumes that they are new. A group with such
 * an id that loses is decided again with all that is known, since the first of its writes that loses is the answer.
 * One statement at a time: one that was still to come when another failed would run outside the transaction.
 */
export async function commit(
  { marks, announcer }: { marks: CommitMarks; announcer: Announcer },
  groups: readonly CommitGroup[],
): Promise<CommitResult[]> {
  checkGroups(groups);
  let announced: readonly Write[] = [];
  let newRuns: 'presumed' | 'looked up' = 'presumed';
  const write = async (tx: Tx): Promise<CommitResult[]> => {
    const known = await lockKnown(tx, groups, newRuns);
    const replaced = new Set(known.idempotency.keys());
    const entries = new Map(known.entries);
    const counters = new Set(known.counters.keys());
    const { results, won } = decide(groups, known);
    const isPresumed = newRuns === 'presumed';
    newRuns = 'looked up';
    if (isPresumed && groups.some((group, i) => !results[i]?.won && group.some(isCreate))) throw new Raced();
    const blobs = collectBlobChanges(tx);
    await writeRuns(tx, won, blobs);
    await writeIdempotency(tx, won, replaced, blobs);
    await writeInvocations(tx, won, blobs);
    await writeCatalogue(tx, won, blobs);
    await writeEntries(tx, won, new Set(entries.keys()), blobs);
    await writeCounters(tx, won, known.counters, counters);
    await blobs.flush();
    await writeFeed(tx, won, entries);
    announced = won;
    return results;
  };
  try {
    return await marks.transact(write);
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) announced = [];
    throw error;
  } finally {
    if (announced.length > 0) announcer.announce(announced);
  }
}
