/** Settings of a standalone registry, from flags and environment. Flags have precedence. */
import path from 'node:path';
import {
  adminKeyOf,
  type Environment,
  read,
  readTable,
  SettingsError,
  type SettingsOf,
  setting,
  usageOf,
} from '@gantry/http';
import { readStorageSetting, type StorageSetting } from './storage/open-storage.ts';

export { SettingsError };

const SERVED = {
  host: setting('GANTRY_REGISTRY_HOST --host: address to listen on', read.textOr('127.0.0.1')),
  port: setting(
    'GANTRY_REGISTRY_PORT --port: port to listen on; 0 takes any free one',
    read.whole(7071, 0, 65_535),
  ),
  dataDir: setting('GANTRY_REGISTRY_DATA_DIR --data: data folder', read.textOr('./.gantry-registry')),
  databaseUrl: setting(
    'GANTRY_DATABASE_URL --database: postgres://... (SQLite in the data folder)',
    read.databaseUrl,
  ),
  logLevel: setting('GANTRY_LOG --log: trace, debug, info, warn, error, fatal or silent', read.logLevel),
  storage: setting(
    'GANTRY_REGISTRY_STORAGE --storage: storage of archives: a folder or s3://bucket/prefix (packs in the data folder)',
    read.text,
  ),
  s3Endpoint: setting('GANTRY_S3_ENDPOINT: address of an S3-compatible server (Amazon S3)', read.text),
  publicUrl: setting(
    'GANTRY_REGISTRY_PUBLIC_URL --public-url: address that clients use (the one it listens on)',
    read.publicUrl,
  ),
  name: setting('GANTRY_REGISTRY_NAME: name of the registry', read.textOr('Gantry registry')),
  trustFile: setting(
    'GANTRY_REGISTRY_TRUST --trust: JSON file with the Sigstore root and signers whose bundles are verified (none)',
    read.text,
  ),
  acceptsUnsigned: setting(
    'GANTRY_REGISTRY_UNSIGNED: 1 accepts unsigned packs, marked as such, in namespaces without a key',
    read.isOn,
  ),
  acceptsPrivate: setting(
    'GANTRY_REGISTRY_PRIVATE: 1 accepts private. names, which only keys of their owners can read',
    read.isOn,
  ),
  testSeams: setting('GANTRY_TEST_SEAMS: 1 serves the test namespace /v1/packs-test/', read.isOn),
  adminKey: setting(
    'GANTRY_ADMIN_KEY: admin key that works while it is set here; 32 characters or more (else one is made)',
    adminKeyOf,
  ),
};

export const usage = (): string => usageOf(SERVED);

type Texts = Omit<SettingsOf<typeof SERVED>, 'storage' | 's3Endpoint'>;
export type Settings = Texts & { readonly storage: StorageSetting };

export function readSettings(args: readonly string[], env: Environment): Settings {
  const { storage, s3Endpoint, ...texts } = readTable(SERVED, args, env);
  return { ...texts, storage: storageOf(storage ?? path.join(texts.dataDir, 'packs'), s3Endpoint) };
}

function storageOf(text: string, endpoint: string | undefined): StorageSetting {
  const setting = readStorageSetting(text, endpoint);
  if (setting !== undefined) return setting;
  throw new SettingsError('GANTRY_REGISTRY_STORAGE must be a folder or s3://bucket/prefix.');
}
