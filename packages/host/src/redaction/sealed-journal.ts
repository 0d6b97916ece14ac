/**
 * Records of what nodes did are sealed where they hold a secret that is open: a node that runs again must read what it
 * first got, and nobody else may.
 */
import type { CommitGroup, Store, Write } from '@gantry/store';
import type { MasterKey } from '../master-key.ts';
import type { Redactions } from './redactions.ts';

/** Outcomes are JSON, which nothing that begins so is. */
const SEALED = 'sealed:';

const contextOf = (tenant: string, invocationId: string): string => `journal/${tenant}/${invocationId}`;

/** The same store; also reads what other processes sealed. */
export function sealedJournal(
  store: Store,
  masterKey: Pick<MasterKey, 'seal' | 'open'>,
  redactions: Pick<Redactions, 'of'>,
): Store {
  const sealed = (tenant: string, invocationId: string, outcome: string): string =>
    redactions.of(tenant).contains(outcome)
      ? SEALED + masterKey.seal(outcome, contextOf(tenant, invocationId))
      : outcome;

  const sealedWrite = (write: Write): Write => {
    if (write.kind === 'settleInvocation') {
      const outcome = sealed(write.tenant, write.invocationId, write.outcome);
      return outcome === write.outcome ? write : { ...write, outcome };
    }
    if (write.kind !== 'claimInvocation' || write.record.outcome === null) return write;
    const { tenant, invocationId, outcome: clear } = write.record;
    const outcome = sealed(tenant, invocationId, clear);
    return outcome === clear ? write : { ...write, record: { ...write.record, outcome } };
  };

  const sealedGroup = (group: CommitGroup): CommitGroup => {
    const writes = group.map(sealedWrite);
    return writes.some((write, index) => write !== group[index]) ? writes : group;
  };

  return {
    ...store,
    commit: (groups) => store.commit(groups.map(sealedGroup)),
    records: {
      ...store.records,
      async invocation(tenant, invocationId) {
        const record = await store.records.invocation(tenant, invocationId);
        if (!record?.outcome?.startsWith(SEALED)) return record;
        const context = contextOf(tenant, invocationId);
        const outcome = masterKey.open(record.outcome.slice(SEALED.length), context);
        if (outcome === null)
          throw new Error(`The record ${invocationId} was sealed with another master key.`);
        return { ...record, outcome };
      },
    },
  };
}
