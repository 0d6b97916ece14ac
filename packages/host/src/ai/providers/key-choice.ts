/** Chooses the credential of a tenant for a provider: the named one, else its own, the narrowest scope first. */
import { OpenwopError, type Owner } from '@gantry/protocol';
import { listRecords, readRecord } from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import {
  accessOf,
  credentials,
  newest,
  parseRef,
  readersOf,
  type StoredCredential,
  scopeReader,
  versionOf,
} from '../../credentials/credential.ts';

export interface KeyChoice {
  readonly ref: string;
  /** `operator` if its value is stored outside the database. */
  readonly key: 'own' | 'operator';
}

const SCOPES = ['user', 'workspace', 'tenant'] as const;
const CANDIDATES_MAX = 20;

export type KeyChoices = ReturnType<typeof keyChoices>;

export function keyChoices(entries: EntryReads, now: () => number) {
  const usable = (owner: Owner, { record }: StoredCredential): boolean =>
    accessOf(owner, record) !== null && versionOf(record, undefined, now()) !== undefined;
  const choiceOf = ({ id, record }: StoredCredential): KeyChoice => ({
    ref: id,
    key: 'store' in newest(record).material ? 'operator' : 'own',
  });

  async function listed(owner: Owner, index: { name: string; value: string }): Promise<StoredCredential[]> {
    const found = await listRecords(entries, credentials, owner.tenant, { index, limit: CANDIDATES_MAX });
    return found.filter((one) => usable(owner, one));
  }

  return {
    async named(owner: Owner, text: string): Promise<KeyChoice> {
      const { ref } = parseRef(text);
      const stored = await readRecord(entries, credentials, owner.tenant, ref);
      if (!stored) throw new OpenwopError('credential_not_found', { details: { ref } });
      if (!accessOf(owner, stored.record)) throw new OpenwopError('credential_forbidden');
      return { ...choiceOf(stored), ref: text };
    },
    /** Null if there is no key. Throws if several match and none was chosen. */
    async find(owner: Owner, provider: string): Promise<KeyChoice | null> {
      for (const scope of SCOPES) {
        if (scope === 'user' && owner.principal === null) continue;
        const value = JSON.stringify([scopeReader(scope, owner), provider]);
        const found = await listed(owner, { name: 'provider', value });
        const one = found.find(({ id }) => id === provider) ?? found[0];
        if (found.length > 1 && one?.id !== provider) throw several(provider, found);
        if (one) return choiceOf(one);
      }
      // Credentials shared by others are found by their readers
      const shared = await Promise.all(
        readersOf(owner).map((value) => listed(owner, { name: 'reader', value })),
      );
      const one = shared.flat().find(({ record }) => record.provider === provider);
      return one ? choiceOf(one) : null;
    },
  };
}

const several = (provider: string, found: readonly StoredCredential[]): OpenwopError =>
  new OpenwopError('credential_unavailable', {
    message:
      `There are several credentials for ${provider}: ${found.map(({ id }) => id).join(', ')}. ` +
      `Name one as credentialRef, or call the one that is meant ${provider}.`,
    details: { provider },
  });
