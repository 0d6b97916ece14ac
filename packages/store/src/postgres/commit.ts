import { UnknownOutcomeError } from '@gantry/postgres';
import { hasLargeBody, takeBodies } from '../body-parts.ts';
import { checkGroups } from '../check.ts';
import type { CommitGroup, CommitResult, Write } from '../port.ts';
import { collectBlobChanges } from './blobs.ts';
import { type Uploads, withUploads } from './body-parts.ts';
import type { CommitMarks } from './commit-marks.ts';
import { decide } from './decide.ts';
import { writeFeed } from './feed.ts';
import { lockKnown } from './known.ts';
import type { Announcer } from './notices.ts';
import { Raced, type Sql, type Tx } from './sql.ts';
import { writeCatalogue } from './write/catalogue.ts';
import { writeCounters, writeEntries } from './write/entries.ts';
import { writeIdempotency, writeInvocations } from './write/records.ts';
import { writeRuns } from './write/runs.ts';

export interface CommitParts {
  readonly sql: Sql;
  readonly marks: CommitMarks;
  readonly announcer: Announcer;
}

export async function commit(parts: CommitParts, batch: readonly CommitGroup[]): Promise<CommitResult[]> {
  checkGroups(batch);
  if (!hasLargeBody(batch)) return commitGroups(parts, batch);
  const { groups, bodies } = takeBodies(batch);
  return withUploads(parts.sql, bodies, (uploads) => commitGroups(parts, groups, uploads));
}

const isCreate = (write: Write): boolean => write.kind === 'createRun';

/**
 * Locks the rows that the groups compare against, decides in memory, and writes the winners: a dozen statements,
 * however many groups there are. If another transaction created a key in between, the insert fails and everything
 * is repeated. The same happens if the id of a run is taken: ids are generated here, so the first attempt presumes
 * that they are new. A losing group with such an id is decided again with all rows known, since the result is the
 * first of its writes that loses.
 *
 * Statements run one at a time: a statement still queued when another fails would run outside the transaction.
 */
async function commitGroups(
  { marks, announcer }: CommitParts,
  groups: readonly CommitGroup[],
  uploads?: Uploads,
): Promise<CommitResult[]> {
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
    uploads?.used.clear();
    const blobs = collectBlobChanges(tx, uploads);
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
