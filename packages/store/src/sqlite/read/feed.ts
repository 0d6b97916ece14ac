import { FEED_COLUMNS } from '../../columns.ts';
import { FEED_KEPT_MS, type FeedReads, type FeedRow } from '../../port.ts';
import type { Sync } from '../channel.ts';
import { LIMIT, type Queries } from '../rows.ts';

/** One writer numbers the rows and commits them in order, so no lower number can become visible later. */
export function feedReads({ one, all }: Queries): Sync<FeedReads> {
  const highest = one<{ number: number | null }>('select max(number) as number from feed');
  const missed = one('select 1 from feed where number > ? and at < ? limit 1');
  const range = `number > ? and number <= ? order by number ${LIMIT}`;
  const page = all<FeedRow>(`select ${FEED_COLUMNS} from feed where tenant = ? and ${range}`);
  const pageOf = all<FeedRow>(`select ${FEED_COLUMNS} from feed where tenant = ? and kind = ? and ${range}`);
  const last = (): number => highest()?.number ?? 0;
  return {
    last,
    after(cursor, { tenant, kind, now, limit }) {
      if (missed(cursor, now - FEED_KEPT_MS)) return null;
      const end = last();
      const rows =
        kind === undefined ? page(tenant, cursor, end, limit) : pageOf(tenant, kind, cursor, end, limit);
      return { rows, next: rows.length < limit ? Math.max(cursor, end) : rows.at(-1)!.number };
    },
  };
}
