/** The journal of writes. It is written by `writer-file.ts` in the transaction of each write; here is its upkeep. */
import { defineArea, LIMIT } from './statements.ts';

export const invocationArea = defineArea({
  reads: () => ({}),
  writes: (database) => {
    const forget = database.prepare(`
      delete from invocations where (tenant, journal_key) in
        (select tenant, journal_key from invocations where recorded_at < ? order by recorded_at ${LIMIT})
    `);
    // Keys of a run begin with its id and a slash, which the digit 0 follows
    const forgetRun = database.prepare(
      "delete from invocations where tenant = ?1 and journal_key > ?2 || '/' and journal_key < ?2 || '0'",
    );
    return {
      forgetRun: (tenant: string, runId: string): number => Number(forgetRun.run(tenant, runId).changes),
      forget: (before: number, limit: number): number => Number(forget.run(before, limit).changes),
    };
  },
});
