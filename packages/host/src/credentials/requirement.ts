/**
 * The credential that a node requires under its own name, such as `salesforce-oauth`: the one with that ref,
 * or the only credential of that provider. If several match, none is used, since no user selected one.
 */
import { type CredentialKind, type CredentialScope, OpenwopError, type Owner } from '@gantry/protocol';
import { listRecords, readRecord } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { accessOf, credentials, type StoredCredential, scopeReader, versionOf } from './credential.ts';
import { lineOf } from './lookup.ts';

export interface Requirement {
  readonly name: string;
  readonly provider?: string | undefined;
  readonly scope: CredentialScope;
  /** The accepted kinds; all if absent. */
  readonly kinds?: readonly CredentialKind[] | undefined;
}

const CANDIDATES_MAX = 10;

export const requiredCredential =
  ({ entries, runs }: Pick<Store, 'entries' | 'runs'>, now: () => number) =>
  async (owner: Owner, requirement: Requirement, runId: string): Promise<StoredCredential> => {
    const { tenant } = owner;
    const { name, provider = name, scope, kinds } = requirement;
    const line = scope === 'run' ? await lineOf(runs, tenant, runId) : undefined;
    const fits = ({ record }: StoredCredential): boolean =>
      record.scope === scope &&
      accessOf(owner, record, line) !== null &&
      versionOf(record, undefined, now()) !== undefined &&
      (kinds?.includes(record.kind) ?? true);
    const named = await readRecord(entries, credentials, tenant, name);
    if (named && fits(named)) return named;
    const listed = (line ?? [scopeReader(scope, owner)]).map((value) => {
      const index = { name: 'provider', value: JSON.stringify([value, provider]) };
      return listRecords(entries, credentials, tenant, { index, limit: CANDIDATES_MAX });
    });
    const [one, ...more] = (await Promise.all(listed)).flat().filter(fits);
    if (one && more.length === 0) return one;
    const problem = one ? `has several that match` : `has none`;
    throw new OpenwopError('credential_unavailable', {
      message: `The node needs the credential ${JSON.stringify(name)} of the scope ${scope}, and the owner of the run ${problem}. Add it with: gantry credentials add ${name} --scope ${scope}`,
      details: { id: name, scope },
    });
  };
