/** Settings of a standalone registry, from flags and environment. Flags win. */
import path from 'node:path';
import { type Environment, SettingReader, SettingsError, type SettingTable } from '@gantry/http';
import { readStorageSetting, type StorageSetting } from './storage/open-storage.ts';

export { SettingsError };

export interface Settings {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly dataDir: string;
  /** `postgres://...`; undefined means SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly storage: StorageSetting;
  /** Undefined means the address it listens on. */
  readonly publicUrl: string | undefined;
  readonly name: string;
  /** A trust file with the Sigstore root and signers. */
  readonly trustFile: string | undefined;
  readonly acceptsUnsigned: boolean;
  readonly acceptsPrivate: boolean;
  readonly testSeams: boolean;
  readonly apiKey: string | undefined;
  readonly logLevel: string;
}

const SERVED = {
  host: { env: 'GANTRY_REGISTRY_HOST', flag: 'host', text: 'address to listen on (127.0.0.1)' },
  port: { env: 'GANTRY_REGISTRY_PORT', flag: 'port', text: 'port to listen on (7071; 0 takes any free one)' },
  dataDir: {
    env: 'GANTRY_REGISTRY_DATA_DIR',
    flag: 'data',
    text: 'data folder (./.gantry-registry)',
  },
  databaseUrl: {
    env: 'GANTRY_DATABASE_URL',
    flag: 'database',
    text: 'postgres://... (SQLite in the data folder)',
  },
  storage: {
    env: 'GANTRY_REGISTRY_STORAGE',
    flag: 'storage',
    text: 'storage of archives: a folder or s3://bucket/prefix (packs in the data folder)',
  },
  s3Endpoint: { env: 'GANTRY_S3_ENDPOINT', text: 'address of an S3-compatible server (Amazon S3)' },
  publicUrl: {
    env: 'GANTRY_REGISTRY_PUBLIC_URL',
    flag: 'public-url',
    text: 'address that clients use (the one it listens on)',
  },
  name: { env: 'GANTRY_REGISTRY_NAME', text: 'name of the registry (Gantry registry)' },
  trustFile: {
    env: 'GANTRY_REGISTRY_TRUST',
    flag: 'trust',
    text: 'JSON file with the Sigstore root and signers whose bundles are verified (none)',
  },
  acceptsUnsigned: {
    env: 'GANTRY_REGISTRY_UNSIGNED',
    text: '1 accepts unsigned packs, marked as such, in namespaces without a key (off)',
  },
  acceptsPrivate: {
    env: 'GANTRY_REGISTRY_PRIVATE',
    text: '1 accepts private. and local. names, for a registry that is not public (off)',
  },
  testSeams: { env: 'GANTRY_TEST_SEAMS', text: '1 serves the test namespace /v1/packs-test/ (off)' },
  apiKey: { env: 'GANTRY_API_KEY', text: 'admin key to use (one is generated otherwise)' },
  logLevel: { env: 'GANTRY_LOG', flag: 'log', text: 'debug, info, warn, error or silent (info)' },
} as const satisfies SettingTable<string>;

export function readSettings(args: readonly string[], env: Environment): Settings {
  const given = new SettingReader<keyof typeof SERVED>(SERVED, args, env);
  const dataDir = given.text('dataDir') ?? './.gantry-registry';
  return {
    host: given.text('host') ?? '127.0.0.1',
    port: given.whole('port', 7071, 0, 65_535),
    dataDir,
    databaseUrl: given.databaseUrl('databaseUrl'),
    storage: storageOf(given.text('storage') ?? path.join(dataDir, 'packs'), given.text('s3Endpoint')),
    publicUrl: given.publicUrl('publicUrl'),
    name: given.text('name') ?? 'Gantry registry',
    trustFile: given.text('trustFile'),
    acceptsUnsigned: given.isOn('acceptsUnsigned'),
    acceptsPrivate: given.isOn('acceptsPrivate'),
    testSeams: given.isOn('testSeams'),
    apiKey: given.text('apiKey'),
    logLevel: given.logLevel('logLevel'),
  };
}

function storageOf(text: string, endpoint: string | undefined): StorageSetting {
  const setting = readStorageSetting(text, endpoint);
  if (setting !== undefined) return setting;
  throw new SettingsError('GANTRY_REGISTRY_STORAGE must be a folder or s3://bucket/prefix.');
}
