import type { DatabaseSync } from 'node:sqlite';
import { FEED_COLUMNS } from '../../columns.ts';
import { FEED_KEPT_MS, type FeedPage, type FeedRow } from '../../port.ts';
import { LIMIT, selectAll, selectOne } from '../rows.ts';

/** One writer numbers the rows and commits them in their order: what is visible has no gaps to come. */
export function prepareFeedReads(database: DatabaseSync) {
  const selectLast = database.prepare('select max(number) as number from feed');
  const selectMissed = database.prepare('select 1 from feed where number > ? and at < ? limit 1');
  const select = database.prepare(`
    select ${FEED_COLUMNS} from feed where tenant = ? and number > ? and number <= ? order by number ${LIMIT}
  `);
  const feedLast = (): number => selectOne<{ number: number | null }>(selectLast)?.number ?? 0;
  return {
    feedLast,
    feedAfter(
      cursor: number,
      { tenant, now, limit }: { tenant: string; now: number; limit: number },
    ): FeedPage | null {
      if (selectMissed.get(cursor, now - FEED_KEPT_MS)) return null;
      const last = feedLast();
      const rows = selectAll<FeedRow>(select, tenant, cursor, last, limit);
      return { rows, next: rows.length < limit ? Math.max(cursor, last) : rows.at(-1)!.number };
    },
  };
}
