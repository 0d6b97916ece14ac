/** Values of credentials: sealed in the record, or in environment variables or files of the operator. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { CREDENTIAL_LIMITS } from '@gantry/protocol';
import type { MasterKey } from '../master-key.ts';
import { type CredentialVersion, contextOf, type Source, type StoredCredential } from './credential.ts';

/** Null if the tenant has no such value. */
export type ReadSecret = (tenant: string, name: string) => Promise<string | null>;

export type ExternalStores = Readonly<Record<Source['store'], ReadSecret>>;

/** An environment variable, and the tenant whose credentials may use it. */
export interface SecretVariable {
  readonly tenant: string;
  readonly name: string;
  readonly value: string | undefined;
}

export interface ExternalStoresOptions {
  readonly variables: readonly SecretVariable[];
  /** Contains a folder for each tenant. */
  readonly folder: string | undefined;
}

const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

export function externalStores({ variables, folder }: ExternalStoresOptions): ExternalStores {
  return {
    env: async (tenant, name) =>
      variables.find((each) => each.tenant === tenant && each.name === name)?.value || null,
    files: async (tenant, name) => {
      if (folder === undefined || !FILE_NAME.test(tenant) || !FILE_NAME.test(name)) return null;
      return readBounded(path.join(folder, tenant, name));
    },
  };
}

/** Removes the line break that editors and `echo` leave at the end. */
async function readBounded(file: string): Promise<string | null> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (!handle) return null;
  try {
    const bytes = Buffer.alloc(CREDENTIAL_LIMITS.valueBytesMax + 2);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    const text = bytes.toString('utf8', 0, bytesRead).replace(/\r?\n$/, '');
    return text === '' || Buffer.byteLength(text) > CREDENTIAL_LIMITS.valueBytesMax ? null : text;
  } finally {
    await handle.close();
  }
}

export interface ValueOptions {
  readonly masterKey: MasterKey;
  readonly stores: ExternalStores;
}

/** A version of a credential, by its tenant and ref. */
export interface ChosenVersion {
  readonly stored: Pick<StoredCredential, 'tenant' | 'id'>;
  readonly version: CredentialVersion;
}

/** Null if it does not exist, or was not sealed in this database. */
export const storedValue = async (
  { masterKey, stores }: ValueOptions,
  { stored, version: { version, material } }: ChosenVersion,
): Promise<string | null> =>
  'sealed' in material
    ? masterKey.open(material.sealed, contextOf(stored, version))
    : stores[material.store](stored.tenant, material.name);
