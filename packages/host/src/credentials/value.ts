/** The value of one version: sealed in the record, or where the operator keeps it. */
import type { MasterKey } from '../master-key.ts';
import { contextOf } from './credential.ts';
import type { ExternalStores } from './external-stores.ts';
import type { Found } from './lookup.ts';

export interface ValueOptions {
  readonly masterKey: MasterKey;
  readonly stores: ExternalStores;
}

export type Chosen = Pick<Found, 'stored' | 'version'>;

/** Null when it is not there, or was not sealed in this database. */
export const storedValue = async (
  { masterKey, stores }: ValueOptions,
  { stored, version: { version, material } }: Chosen,
): Promise<string | null> =>
  'sealed' in material
    ? masterKey.open(material.sealed, contextOf(stored, version))
    : stores[material.store](stored.tenant, material.name);
