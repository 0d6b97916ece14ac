/**
 * Values that pack code has seen. Any later output of that tenant may carry them, whichever process it runs in, so a
 * process learns them before it runs pack code of the tenant.
 */
import { fromEntry, type RecordKind } from '@gantry/resources';
import type { Entry, EntryFilter, EntryReads } from '@gantry/store';
import type { Redactions } from '../redaction/redactions.ts';
import { type CredentialRecord, credentials } from './credential.ts';
import { storedValue, type ValueOptions } from './value.ts';

/** A credential that was removed after pack code had seen it. */
export interface RemovedCredential extends Pick<CredentialRecord, 'versions'> {
  readonly ref: string;
  readonly until: number;
}

export const removedCredentials: RecordKind<RemovedCredential> = {
  kind: 'removed-credential',
  idPrefix: 'rmc',
  expiresAt: ({ until }) => until,
};

export interface RecallOptions extends ValueOptions {
  readonly store: { readonly entries: EntryReads };
  readonly redactions: Pick<Redactions, 'keep'>;
}

const PAGE = 200;

/** Once for each tenant; what this process gives out itself it knows anyway. */
export function createRecall(options: RecallOptions): (tenant: string) => Promise<void> {
  const recalled = new Map<string, Promise<void>>();
  return (tenant) => {
    const known = recalled.get(tenant) ?? recall(options, tenant);
    recalled.set(tenant, known);
    known.catch(() => recalled.delete(tenant));
    return known;
  };
}

async function recall(options: RecallOptions, tenant: string): Promise<void> {
  const { store, redactions } = options;
  const keep = async (id: string, versions: CredentialRecord['versions']): Promise<void> => {
    for (const version of versions) {
      const value = await storedValue(options, { stored: { tenant, id }, version });
      if (value !== null) redactions.keep(tenant, value, id);
    }
  };
  const list = (kind: string, filter: Partial<EntryFilter>) =>
    store.entries.list(kind, tenant, { ...filter, limit: PAGE });
  const revealed = { index: { name: 'revealed', value: 'yes' } };
  for await (const entry of pages((before) => list(credentials.kind, { ...revealed, ...before })))
    await keep(entry.id, fromEntry(credentials, entry).record.versions);
  for await (const entry of pages((before) => list(removedCredentials.kind, before))) {
    const { ref, versions } = fromEntry(removedCredentials, entry).record;
    await keep(ref, versions);
  }
}

async function* pages(read: (before: Pick<EntryFilter, 'beforeId'>) => Promise<Entry[]>) {
  for (let before: Pick<EntryFilter, 'beforeId'> = {}; ; ) {
    const page = await read(before);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    before = { beforeId: last.id };
  }
}
