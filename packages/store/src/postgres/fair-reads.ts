/**
 * Lists and whole runs can hold a connection for long. One tenant never holds all of those connections with them, and
 * all tenants together leave some for commits and for reads of single rows.
 */
import { limiter } from '@gantry/limiter';
import type { EntryReads, RunReads } from '../port.ts';

/** Of the 4 connections that statements outside of transactions share. */
const LISTS = { max: 3, perTenantMax: 2 };
/** Of the 8 connections for transactions. */
const LOADS = { max: 6, perTenantMax: 5 };

export function fairReads(runs: RunReads, entries: EntryReads): { runs: RunReads; entries: EntryReads } {
  const lists = limiter(LISTS);
  const loads = limiter(LOADS);
  return {
    runs: {
      ...runs,
      load: (tenant, runId) => loads.run(tenant, () => runs.load(tenant, runId)),
      list: (tenant, filter) => lists.run(tenant, () => runs.list(tenant, filter)),
    },
    entries: {
      ...entries,
      list: (kind, tenant, filter) => {
        const list = (): ReturnType<EntryReads['list']> => entries.list(kind, tenant, filter);
        // What hangs on one thing is little
        return filter.ref === undefined ? lists.run(tenant, list) : list();
      },
      range: (kind, tenant, range) => lists.run(tenant, () => entries.range(kind, tenant, range)),
    },
  };
}
