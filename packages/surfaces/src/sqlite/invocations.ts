/** Maintains the journal of writes. `writer-file.ts` adds to it in the transaction of each write. */
import { defineArea } from './statements.ts';

export const invocationArea = defineArea({
  reads: () => ({}),
  writes: (sql) => ({
    forget: (before: number, limit: number): number => sql.run`
      delete from invocations where (tenant, journal_key) in
        (select tenant, journal_key from invocations where recorded_at < ${before}
          order by recorded_at limit ${limit} + 0)
    `,
    /** Keys of a run begin with its id and a slash; the character after the slash is `0`. */
    forgetRun: (tenant: string, runId: string): number => sql.run`
      delete from invocations
      where tenant = ${tenant} and journal_key > ${runId} || '/' and journal_key < ${runId} || '0'
    `,
  }),
});
