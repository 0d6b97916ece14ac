/**
 * Feed numbers become visible out of order: a transaction may take a lower number and commit later. So a commit
 * first takes a shared lock on the last number so far, and a reader stops at the lowest such lock.
 *
 * I1  A row with number n belongs to a transaction that held a lock below n when n was taken.
 * I2  A reader reads the last number first, then the locks, then the rows. By then, each number is visible or its
 *     lock is held: a commit becomes visible before its locks are released.
 */
import { isStorable } from '../check.ts';
import { FEED, FEED_COLUMNS } from '../columns.ts';
import { entryKey, versionAfter } from '../entry.ts';
import { FEED_KEPT_MS, type FeedReads, type FeedRow, type Write } from '../port.ts';
import type { EntryState } from './decide.ts';
import { insert, type Queryable, type Sql, type Tx } from './sql.ts';

/** The keys of the locks: this value in the upper bits, a feed number in the lower 40. */
const LOCK_CLASS = 7_070_418;
const NUMBER_BITS = 40;

const lastNumber = (sql: Queryable) => sql`(select last_value - (not is_called)::int from feed_number)`;

/** `before`: the entries before the commit. */
export async function writeFeed(
  tx: Tx,
  won: readonly Write[],
  before: ReadonlyMap<string, EntryState | null>,
): Promise<void> {
  const rows = feedRows(won, before);
  if (rows.length === 0) return;
  await tx`
    select pg_advisory_xact_lock_shared((${LOCK_CLASS}::bigint << ${NUMBER_BITS}::int) + ${lastNumber(tx)})
  `;
  await insert(tx, FEED, rows);
}

function feedRows(
  won: readonly Write[],
  before: ReadonlyMap<string, EntryState | null>,
): Omit<FeedRow, 'number'>[] {
  const workspaces = new Map([...before].map(([key, state]) => [key, state?.workspace ?? null]));
  return won.flatMap((write): Omit<FeedRow, 'number'>[] => {
    if (write.kind !== 'putEntry' && write.kind !== 'deleteEntry') return [];
    const { kind, tenant, id } = write.kind === 'putEntry' ? write.entry : write.key;
    const key = entryKey({ kind, tenant, id });
    if (write.kind === 'putEntry') workspaces.set(key, write.entry.workspace ?? null);
    if (!write.feed) return [];
    const workspace = workspaces.get(key) ?? null;
    const common = { ...write.feed, kind, tenant, id, workspace };
    if (write.kind === 'deleteEntry') return [{ ...common, version: write.expectedVersion, op: 'delete' }];
    const op = write.expectedVersion === null ? 'create' : 'update';
    return [{ ...common, version: versionAfter(write), op }];
  });
}

export const feedReads = (sql: Sql): FeedReads => ({
  last: () => visibleUpTo(sql),
  async after(cursor, { tenant, kind, now, limit }) {
    if (!isStorable(tenant)) return { rows: [], next: cursor };
    const end = await visibleUpTo(sql);
    const rows = await sql<FeedRow[]>`
      select ${sql.unsafe(FEED_COLUMNS)}
      from feed
      where tenant = ${tenant} ${kind === undefined ? sql`` : sql`and kind = ${kind}`} and number > ${cursor} and number <= ${end}
      order by number
      limit ${limit}
    `;
    const missed = await sql`
      select 1 from feed where number > ${cursor} and at < ${now - FEED_KEPT_MS} limit 1
    `;
    if (missed.length > 0) return null;
    return { rows: [...rows], next: rows.length < limit ? Math.max(cursor, end) : rows.at(-1)!.number };
  },
});

/** I2: two statements, one after the other. */
async function visibleUpTo(sql: Sql): Promise<number> {
  const [{ last }] = await sql<[{ last: number }]>`select ${lastNumber(sql)} as last`;
  const [{ lowest }] = await sql<[{ lowest: number | null }]>`
    select min(key & ((1::bigint << ${NUMBER_BITS}::int) - 1)) as lowest
    from (
      select (classid::bigint << 32) + objid::bigint as key
      from pg_locks
      where locktype = 'advisory' and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
    ) as locks
    where key >> ${NUMBER_BITS}::int = ${LOCK_CLASS}
  `;
  return Math.min(last, lowest ?? last);
}
