import type { PostgresDatabase, Tx } from './connection.ts';

/** Small, so that a sweep does not delay live writes for long. */
const BATCH = 500;

/** Each skips rows that another process is deleting. */
const BATCHES: readonly ((tx: Tx, times: SweepTimes) => Promise<{ readonly count: number }>)[] = [
  (tx, { now }) => tx`
    delete from kv where (tenant, namespace, key) in (select tenant, namespace, key from kv
      where expires_at <= ${now} order by expires_at limit ${BATCH} for update skip locked)`,
  (tx, { now }) => tx`
    delete from cache where id in (select id from cache
      where expires_at <= ${now} order by expires_at limit ${BATCH} for update skip locked)`,
  (tx, { now }) => tx`
    delete from blob_contents where id in (select id from blob_contents
      where not named and keep_until <= ${now} order by keep_until limit ${BATCH} for update skip locked)`,
  (tx, { recordedBefore }) => tx`
    delete from invocations where (tenant, journal_key) in (select tenant, journal_key from invocations
      where recorded_at < ${recordedBefore} order by recorded_at limit ${BATCH} for update skip locked)`,
];

export interface SweepTimes {
  readonly now: number;
  /** Recorded answers before this time are deleted. */
  readonly recordedBefore: number;
}

/**
 * Deletes the recorded answers of one run. In any collation, keys with an id as prefix do not sort before the
 * id. Ids begin with their time, so this reads what the tenant recorded since.
 */
export const forgetRunInPostgres = (
  database: PostgresDatabase,
  tenant: string,
  runId: string,
): Promise<unknown> =>
  database.upkeep(
    (tx) => tx`
      delete from invocations
      where tenant = ${tenant} and journal_key >= ${runId} and starts_with(journal_key, ${`${runId}/`})`,
  );

/** Deletes expired data; answers the number of deleted rows. */
export async function sweepPostgres(database: PostgresDatabase, times: SweepTimes): Promise<number> {
  let deleted = 0;
  for (const batch of BATCHES)
    for (let count = BATCH; count === BATCH; deleted += count)
      ({ count } = await database.upkeep((tx) => batch(tx, times)));
  return deleted;
}
