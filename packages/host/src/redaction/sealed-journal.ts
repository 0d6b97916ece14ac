/**
 * Journal records of nodes are sealed if they contain an opened secret: a node that runs again must read its
 * first result, and no other reader may. Mail is sealed if it contains a command, which may be the answer to
 * an interrupt, or sensitive variables.
 *
 * S1  A secret in a record has reached its run. The commit of the record also marks it as given to the run, so a
 *     process that never opened it redacts it.
 * S2  A process that opens a sealed record first loads all given secrets: another process may just have marked one.
 */
import type { CommitGroup, Entry, EntryKey, Store, Write } from '@gantry/store';
import type { MasterKey } from '../master-key.ts';
import { isConfidential, MAIL } from '../runtime/mail.ts';
import { JournalMarks } from './journal-marks.ts';
import type { Redactions } from './redactions.ts';

/** Outcomes are JSON, which never starts with this. */
const SEALED = 'sealed:';

const contextOf = (tenant: string, invocationId: string): string => `journal/${tenant}/${invocationId}`;
const mailContext = ({ tenant, id }: EntryKey): string => `mail/${tenant}/${id}`;

/** The same store. It also reads records that other processes sealed. */
export function sealedJournal(
  store: Store,
  masterKey: Pick<MasterKey, 'seal' | 'open'>,
  redactions: Pick<Redactions, 'of' | 'given'>,
): Store {
  const seal = (tenant: string, invocationId: string, outcome: string): string =>
    SEALED + masterKey.seal(outcome, contextOf(tenant, invocationId));
  const marks = new JournalMarks({ store, redactions, seal });

  const sealedMail = (write: Write): Write => {
    if (write.kind !== 'putEntry' || write.entry.kind !== MAIL || !isConfidential(write.entry)) return write;
    const body = SEALED + masterKey.seal(write.entry.body, mailContext(write.entry));
    return { ...write, entry: { ...write.entry, body } };
  };

  const sealedGroup = (group: CommitGroup): CommitGroup => {
    const writes = group.map(sealedMail);
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
    commit: (groups) => marks.commit(groups.map(sealedGroup)),
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
        await redactions.given.allKnown(tenant);
        const context = contextOf(tenant, invocationId);
        const outcome = masterKey.open(record.outcome.slice(SEALED.length), context);
        if (outcome === null)
          throw new Error(`The record ${invocationId} was sealed with another master key.`);
        return { ...record, outcome };
      },
    },
  };
}
