/** The value of one version: sealed in the record, or where the operator keeps it. */
import type { MasterKey } from '../master-key.ts';
import { type CredentialVersion, contextOf, type StoredCredential } from './credential.ts';
import type { ExternalStores } from './external-stores.ts';

export interface ValueOptions {
  readonly masterKey: MasterKey;
  readonly stores: ExternalStores;
}

/** Of a credential, by its tenant and ref. */
export interface ChosenVersion {
  readonly stored: Pick<StoredCredential, 'tenant' | 'id'>;
  readonly version: CredentialVersion;
}

/** Null when it is not there, or was not sealed in this database. */
export const storedValue = async (
  { masterKey, stores }: ValueOptions,
  { stored, version: { version, material } }: ChosenVersion,
): Promise<string | null> =>
  'sealed' in material
    ? masterKey.open(material.sealed, contextOf(stored, version))
    : stores[material.store](stored.tenant, material.name);
