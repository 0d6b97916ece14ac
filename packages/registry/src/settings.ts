/** Settings of a registry that stands alone, from flags and environment. Flags win. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { SettingsError } from '@gantry/http';
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
  /** A trust file; its Sigstore root and signers count here. */
  readonly trustFile: string | undefined;
  readonly acceptsUnsigned: boolean;
  readonly acceptsPrivate: boolean;
  readonly testSeams: boolean;
  readonly apiKey: string | undefined;
  readonly logLevel: string;
}

interface Setting {
  readonly env: string;
  readonly flag?: string;
  readonly text: string;
}

const SERVED = {
  host: { env: 'GANTRY_REGISTRY_HOST', flag: 'host', text: 'address to listen on (127.0.0.1)' },
  port: { env: 'GANTRY_REGISTRY_PORT', flag: 'port', text: 'port to listen on (7071; 0 takes any free one)' },
  dataDir: {
    env: 'GANTRY_REGISTRY_DATA_DIR',
    flag: 'data',
    text: 'folder for everything durable (./.gantry-registry)',
  },
  databaseUrl: {
    env: 'GANTRY_DATABASE_URL',
    flag: 'database',
    text: 'postgres://... (SQLite in the data folder)',
  },
  storage: {
    env: 'GANTRY_REGISTRY_STORAGE',
    flag: 'storage',
    text: 'where archives lie: a folder or s3://bucket/prefix (packs in the data folder)',
  },
  s3Endpoint: { env: 'GANTRY_S3_ENDPOINT', text: 'address of a server that speaks S3 (that of Amazon)' },
  publicUrl: {
    env: 'GANTRY_REGISTRY_PUBLIC_URL',
    flag: 'public-url',
    text: 'address under which clients reach it (the one it listens on)',
  },
  name: { env: 'GANTRY_REGISTRY_NAME', text: 'name that it tells clients (Gantry registry)' },
  trustFile: {
    env: 'GANTRY_REGISTRY_TRUST',
    flag: 'trust',
    text: 'JSON file with the Sigstore root and signers whose bundles are verified (none)',
  },
  acceptsUnsigned: {
    env: 'GANTRY_REGISTRY_UNSIGNED',
    text: '1 takes unsigned packs, flagged, where the namespace has no key (off)',
  },
  acceptsPrivate: {
    env: 'GANTRY_REGISTRY_PRIVATE',
    text: '1 takes private. and local. names, for a registry that is not public (off)',
  },
  testSeams: { env: 'GANTRY_TEST_SEAMS', text: '1 serves the test namespace /v1/packs-test/ (off)' },
  apiKey: { env: 'GANTRY_API_KEY', text: 'admin key that exists from the start (else one is made)' },
  logLevel: { env: 'GANTRY_LOG', flag: 'log', text: 'debug, info, warn, error or silent (info)' },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof SERVED;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const PORT = 7071;

export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const flags = readFlags(args);
  const value = (name: Name): string | undefined => {
    const setting: Setting = SERVED[name];
    return (setting.flag && flags[setting.flag]) || env[setting.env] || undefined;
  };
  const dataDir = value('dataDir') ?? './.gantry-registry';
  return {
    host: value('host') ?? '127.0.0.1',
    port: portOf(value('port')),
    dataDir,
    databaseUrl: databaseOf(value('databaseUrl')),
    storage: storageOf(value('storage') ?? path.join(dataDir, 'packs'), value('s3Endpoint')),
    publicUrl: addressOf(value('publicUrl')),
    name: value('name') ?? 'Gantry registry',
    trustFile: value('trustFile'),
    acceptsUnsigned: onOrOff('acceptsUnsigned', value('acceptsUnsigned')),
    acceptsPrivate: onOrOff('acceptsPrivate', value('acceptsPrivate')),
    testSeams: onOrOff('testSeams', value('testSeams')),
    apiKey: value('apiKey'),
    logLevel: levelOf(value('logLevel')),
  };
}

function readFlags(args: readonly string[]): Record<string, string | undefined> {
  const names = Object.values(SERVED).flatMap((setting: Setting) => setting.flag ?? []);
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return { ...parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values };
  } catch (error) {
    throw new SettingsError(`${error instanceof Error ? error.message : error}\n\n${usage()}`);
  }
}

function portOf(text: string | undefined): number {
  const port = text === undefined ? PORT : Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new SettingsError(`GANTRY_REGISTRY_PORT must be a whole number from 0 to 65535, not "${text}".`);
}

function databaseOf(text: string | undefined): string | undefined {
  if (text === undefined || /^postgres(ql)?:\/\//.test(text)) return text;
  throw new SettingsError('GANTRY_DATABASE_URL must start with postgres://. Leave it out to use SQLite.');
}

function storageOf(text: string, endpoint: string | undefined): StorageSetting {
  const setting = readStorageSetting(text, endpoint);
  if (setting !== undefined) return setting;
  throw new SettingsError('GANTRY_REGISTRY_STORAGE must be a folder or s3://bucket/prefix.');
}

function addressOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:\/\/[^?#]+$/.test(text)) return text.replace(/\/+$/, '');
  throw new SettingsError('GANTRY_REGISTRY_PUBLIC_URL must be an address such as https://packs.example.org.');
}

function onOrOff(name: Name, text: string | undefined): boolean {
  if (text === undefined || text === '0') return false;
  if (text === '1') return true;
  throw new SettingsError(`${SERVED[name].env} must be 1 or 0, not "${text}".`);
}

function levelOf(text = 'info'): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new SettingsError(`GANTRY_LOG must be one of ${LOG_LEVELS.join(', ')}.`);
}

function usage(): string {
  const rows = Object.values(SERVED).map((setting: Setting) => {
    const flag = setting.flag ? `--${setting.flag}` : '';
    return `  ${flag.padEnd(14)}${setting.env.padEnd(28)}${setting.text}`;
  });
  return `Settings (flag, environment, meaning):\n${rows.join('\n')}`;
}
