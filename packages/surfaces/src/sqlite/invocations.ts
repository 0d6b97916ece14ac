/** The journal of writes. It is written by `writer-file.ts` in the transaction of each write; here is its upkeep. */
import { defineArea, LIMIT } from './statements.ts';

export const invocationArea = defineArea({
  reads: () => ({}),
  writes: (database) => {
    const forget = database.prepare(`
      delete from invocations where (tenant, journal_key) in
        (select tenant, journal_key from invocations where recorded_at < ? order by recorded_at ${LIMIT})
    `);
    return {
      forget: (before: number, limit: number): number => Number(forget.run(before, limit).changes),
    };
  },
});
