/** `X-Dedup: enforce`: at most one active run per tenant and scope. */
import { invalid, OpenwopError } from '@gantry/protocol';
import type { RunReads } from '@gantry/store';

const RETRY_AFTER_SECONDS = 1;

export interface ScopeGuard {
  /** Runs `create` unless the scope has an active run. Creates in one scope are serialized. */
  onlyOne<T>(tenant: string, scopeId: string | undefined, create: () => Promise<T>): Promise<T>;
}

function alreadyActive(activeRunId: string): OpenwopError {
  return new OpenwopError('run_already_active', {
    details: { activeRunId, activeHost: 'cloud', retryAfter: RETRY_AFTER_SECONDS },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}

export function createScopeGuard(runs: Pick<RunReads, 'activeInScope'>): ScopeGuard {
  const creating = new Map<string, Promise<unknown>>();

  async function unlessActive<T>(tenant: string, scopeId: string, create: () => Promise<T>): Promise<T> {
    const active = await runs.activeInScope(tenant, scopeId);
    if (active !== null) throw alreadyActive(active);
    return create();
  }

  return {
    async onlyOne(tenant, scopeId, create) {
      if (scopeId === undefined) {
        throw invalid('`X-Dedup: enforce` needs a `scopeId` to compare by.', { key: 'scopeId' });
      }
      const id = `${tenant}\n${scopeId}`;
      for (let before = creating.get(id); before !== undefined; before = creating.get(id)) {
        await before.catch(() => undefined);
      }
      const turn = unlessActive(tenant, scopeId, create);
      creating.set(id, turn);
      try {
        return await turn;
      } finally {
        creating.delete(id);
      }
    },
  };
}
