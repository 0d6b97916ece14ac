/**
 * Journal records of nodes are sealed if they contain an opened secret: a node that runs again must read its
 * first result, and no other reader may. Mail is sealed if it contains a command, which may be the answer to
 * an interrupt, or sensitive variables.
 */
import type { CommitGroup, Entry, EntryKey, Store, Write } from '@gantry/store';
import type { MasterKey } from '../master-key.ts';
import { isConfidential, MAIL } from '../runtime/mail.ts';
import type { Redactions } from './redactions.ts';

/** Outcomes are JSON, which never starts with this. */
const SEALED = 'sealed:';

const contextOf = (tenant: string, invocationId: string): string => `journal/${tenant}/${invocationId}`;
const mailContext = ({ tenant, id }: EntryKey): string => `mail/${tenant}/${id}`;

/** The same store. It also reads records that other processes sealed. */
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
    if (write.kind === 'putEntry' && write.entry.kind === MAIL && isConfidential(write.entry)) {
      const body = SEALED + masterKey.seal(write.entry.body, mailContext(write.entry));
      return { ...write, entry: { ...write.entry, body } };
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

  const opened = (entry: Entry): Entry => {
    if (entry.kind !== MAIL || !entry.body.startsWith(SEALED)) return entry;
    const body = masterKey.open(entry.body.slice(SEALED.length), mailContext(entry));
    if (body === null) throw new Error(`The mail ${entry.id} was sealed with another master key.`);
    return { ...entry, body };
  };

  return {
    ...store,
    commit: (groups) => store.commit(groups.map(sealedGroup)),
    entries: {
      ...store.entries,
      list: async (kind, ...of) => {
        const found = await store.entries.list(kind, ...of);
        return kind === MAIL ? found.map(opened) : found;
      },
      due: async (kind, ...of) => {
        const found = await store.entries.due(kind, ...of);
        return kind === MAIL ? found.map(opened) : found;
      },
    },
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
