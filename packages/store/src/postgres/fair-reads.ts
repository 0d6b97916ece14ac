/**
 * Lists and loads of whole runs can hold a connection for a long time. One tenant never holds all connections for
 * these, and all tenants together leave some for commits and for reads of single rows.
 */
import { limiter } from '@gantry/limiter';
import type { EntryReads, RunReads } from '../port.ts';

/** Out of the 4 connections for statements outside transactions. */
const LISTS = { max: 3, perTenantMax: 2 };
/** Out of the 8 connections for transactions. */
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
        // The entries of one parent are few
        return filter.ref === undefined ? lists.run(tenant, list) : list();
      },
      range: (kind, tenant, range) => lists.run(tenant, () => entries.range(kind, tenant, range)),
    },
  };
}
