/** Settings from flags and environment. Flags win. A flag that is not known is refused by name. */
import { existsSync } from 'node:fs';
import type { AllowEntry } from '@gantry/egress';
import { type Environment, SettingReader, SettingsError, type SettingTable, usageOf } from '@gantry/http';
import type { UidRange } from '@gantry/sandbox';
import type { BackendSettings } from '@gantry/surfaces';
import { unknownNames } from './setting-names.ts';
import {
  bucketsOf,
  dnsServersOf,
  egressAllowOf,
  environmentOf,
  readBackend,
  registriesOf,
  type ServerPort,
  uidsOf,
} from './setting-values.ts';

export { SettingsError };

export interface Settings {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Where clients reach the host, without a slash at the end; undefined means where it listens. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** `postgres://...`; undefined means SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  /** How long PostgreSQL may take for one statement. */
  readonly databaseTimeoutSeconds: number;
  readonly apiKey: string | undefined;
  readonly workflowsDir: string;
  readonly logLevel: string;
  readonly retentionDays: number;
  readonly inflightCap: number;
  /** Undefined means the key file in the data folder. */
  readonly masterKey: string | undefined;
  /** What may be called beyond public addresses over https, each for one purpose and tenant. */
  readonly egressAllow: readonly AllowEntry[];
  /** Packs to have installed for every tenant: folders, or names with ranges. */
  readonly packs: readonly string[];
  /** Where named packs come from, in the order they are asked. None means that no registry is ever asked. */
  readonly registries: readonly string[];
  /** A lockfile; with it only what it lists is installed, with exactly its bytes. */
  readonly packLock: string | undefined;
  /** The file that says which packs are trusted, and by whose keys. */
  readonly trustFile: string | undefined;
  /** What signatures have to cover where packs are verified. */
  readonly packSignatures: 'manifest' | 'files';
  readonly sandbox: 'os' | 'permission-only';
  /** One for each pack process, where the host is root. */
  readonly sandboxUids: UidRange;
  /** Python packs run even where their system calls cannot be filtered. */
  readonly pythonUnfiltered: boolean;
  /** What one call of pack code may use. */
  readonly packMemoryMb: number;
  readonly packTimeoutSeconds: number;
  /** Unclean ends of the host in a row after which a node that was running is not started again; 0 is never. */
  readonly poisonEnds: number;
  /** The variables that shared packs with `env.read` see, by the name of the pack. */
  readonly packEnvironment: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Name servers to ask instead of those of the machine. */
  readonly dnsServers: readonly string[];
  /** Servers that keep what packs store, by port. */
  readonly backends: BackendSettings;
  /** Names that packs put objects under; the first is meant where none is named. */
  readonly buckets: readonly string[];
  /** The host is a registry of packs too. */
  readonly serveRegistry: boolean;
  /** The routes that the public conformance suite drives the host through. */
  readonly testSeams: boolean;
}

const SERVED = {
  host: { env: 'GANTRY_HOST', flag: 'host', text: 'address to listen on (127.0.0.1)' },
  port: { env: 'GANTRY_PORT', flag: 'port', text: 'port to listen on (7070; 0 takes any free one)' },
  publicUrl: {
    env: 'GANTRY_PUBLIC_URL',
    text: 'address under which clients reach it, for links (the one it listens on)',
  },
  dataDir: { env: 'GANTRY_DATA_DIR', flag: 'data', text: 'folder for everything durable (./.gantry)' },
  databaseUrl: {
    env: 'GANTRY_DATABASE_URL',
    flag: 'database',
    text: 'postgres://... (SQLite in the data folder)',
  },
  databaseTimeoutSeconds: {
    env: 'GANTRY_DATABASE_TIMEOUT_SECONDS',
    text: 'time that PostgreSQL may take for one statement (15)',
  },
  apiKey: { env: 'GANTRY_API_KEY', text: 'admin key that exists from the start (else one is made)' },
  workflowsDir: {
    env: 'GANTRY_WORKFLOWS_DIR',
    flag: 'workflows',
    text: 'folder of *.json definitions (./workflows)',
  },
  logLevel: { env: 'GANTRY_LOG', flag: 'log', text: 'debug, info, warn, error or silent (info)' },
  retentionDays: {
    env: 'GANTRY_RETENTION_DAYS',
    flag: 'retention-days',
    text: 'how long ended runs are kept (30; at least 7)',
  },
  inflightCap: {
    env: 'GANTRY_INFLIGHT_CAP',
    flag: 'inflight-cap',
    text: 'runs worked on at once before 503 (2000)',
  },
  masterKey: {
    env: 'GANTRY_MASTER_KEY',
    text: 'key of what is encrypted at rest (else master.key in the data folder)',
  },
  egressAllow: {
    env: 'GANTRY_EGRESS_ALLOW',
    text: 'what may be called beyond public https: purpose[@tenant]=scheme://host[:port], separated by commas (none)',
  },
  packs: {
    env: 'GANTRY_PACKS',
    flag: 'packs',
    text: 'packs to install for every tenant: name@range or folder, separated by commas (none)',
  },
  registries: {
    env: 'GANTRY_REGISTRY_URL',
    flag: 'registry',
    text: 'registry of packs, and fallbacks, separated by commas: https://... or a folder (none)',
  },
  packLock: {
    env: 'GANTRY_PACK_LOCK',
    text: 'lockfile: packs by name are installed exactly as it lists them (none)',
  },
  trustFile: {
    env: 'GANTRY_TRUST',
    flag: 'trust',
    text: 'JSON file of whom packs are trusted from (uploads: open; registries: verified)',
  },
  packSignatures: {
    env: 'GANTRY_PACK_SIGNATURES',
    text: 'files takes verified packs only if their files are signed or pinned (manifest)',
  },
  sandbox: {
    env: 'GANTRY_SANDBOX',
    text: 'os, or permission-only where the machine cannot isolate and every pack is trusted (os)',
  },
  sandboxUids: {
    env: 'GANTRY_SANDBOX_UIDS',
    text: 'uids for pack processes of a host that is root, at least 64 (61184-65519)',
  },
  pythonUnfiltered: {
    env: 'GANTRY_PYTHON_UNFILTERED',
    text: '1 runs Python packs even where their system calls cannot be filtered (off)',
  },
  packMemoryMb: { env: 'GANTRY_PACK_MEMORY_MB', text: 'memory of a pack process in MiB (256)' },
  packTimeoutSeconds: {
    env: 'GANTRY_PACK_TIMEOUT_SECONDS',
    text: 'time that one call of pack code may take (30)',
  },
  poisonEnds: {
    env: 'GANTRY_POISON_ENDS',
    text: 'unclean ends in a row after which a running pack node fails (3; 0 is never)',
  },
  packEnvironment: {
    env: 'GANTRY_PACK_ENV',
    text: 'PACK:VARIABLE pairs that packs of GANTRY_PACKS may read, separated by commas (none)',
  },
  kv: { env: 'GANTRY_KV', text: 'keys of packs: postgres:// (the data folder)' },
  cache: { env: 'GANTRY_CACHE', text: 'cache of packs: postgres:// (the data folder)' },
  documents: {
    env: 'GANTRY_DOCUMENTS',
    text: 'tables and documents of packs: postgres:// (the data folder)',
  },
  vectors: { env: 'GANTRY_VECTORS', text: 'vectors of packs: postgres:// (the data folder)' },
  search: { env: 'GANTRY_SEARCH', text: 'full text of packs: postgres:// (the data folder)' },
  queue: { env: 'GANTRY_QUEUE', text: 'queues of packs: postgres:// (the data folder)' },
  blobs: { env: 'GANTRY_BLOBS', text: 'objects of packs: s3://bucket/prefix (the data folder)' },
  dnsServers: {
    env: 'GANTRY_DNS_SERVERS',
    text: 'name servers for webhooks and packs: addresses, separated by commas (those of the machine)',
  },
  buckets: {
    env: 'GANTRY_BUCKETS',
    text: 'buckets of objects, separated by commas; the first is meant where none is named (artifacts)',
  },
  datasources: { env: 'GANTRY_DATASOURCES', text: 'a JSON file of SQL databases that packs may use (none)' },
  serveRegistry: {
    env: 'GANTRY_REGISTRY_SERVE',
    text: '1 makes the host a registry of packs too, in its data folder (off)',
  },
  testSeams: {
    env: 'GANTRY_TEST_SEAMS',
    text: '1 serves the seams of the conformance suite, with a key (off)',
  },
} as const satisfies SettingTable<Exclude<keyof Settings, 'backends'> | keyof BackendSettings>;

const MASTER_KEY_LENGTH_MIN = 32;

const given = (args: readonly string[], env: Environment) =>
  new SettingReader<keyof typeof SERVED>(SERVED, args, env);

export const usage = (): string => usageOf(SERVED);

/** What the operator probably did not mean, in sentences. The host starts all the same. */
export function settingWarnings(args: readonly string[], env: Environment): string[] {
  const folder = given(args, env).text('workflowsDir');
  const names = Object.values(SERVED).map((setting) => setting.env);
  return [
    ...unknownNames(env, names),
    ...(folder === undefined || existsSync(folder)
      ? []
      : [
          `There is no folder ${folder}, so no workflows are loaded from it. Check --workflows or GANTRY_WORKFLOWS_DIR.`,
        ]),
  ];
}

export function readSettings(args: readonly string[], env: Environment): Settings {
  const read = given(args, env);
  const server = (port: ServerPort) => readBackend(SERVED[port].env, port, read.text(port));
  const masterKey = read.text('masterKey');
  if (masterKey !== undefined && masterKey.length < MASTER_KEY_LENGTH_MIN) {
    throw new SettingsError(
      `GANTRY_MASTER_KEY must have at least ${MASTER_KEY_LENGTH_MIN} random characters.`,
    );
  }
  return {
    host: read.text('host') ?? '127.0.0.1',
    port: read.whole('port', 7070, 0, 65_535),
    publicUrl: read.publicUrl('publicUrl'),
    dataDir: read.text('dataDir') ?? './.gantry',
    databaseUrl: read.databaseUrl('databaseUrl'),
    databaseTimeoutSeconds: read.whole('databaseTimeoutSeconds', 15, 1, 3_600),
    apiKey: read.text('apiKey'),
    workflowsDir: read.text('workflowsDir') ?? './workflows',
    logLevel: read.logLevel('logLevel'),
    retentionDays: read.whole('retentionDays', 30, 7, 36_500),
    inflightCap: read.whole('inflightCap', 2_000, 1, 1_000_000),
    masterKey,
    egressAllow: egressAllowOf(read.text('egressAllow')),
    packs: read.list('packs'),
    registries: registriesOf(read.text('registries')),
    packLock: read.text('packLock'),
    trustFile: read.text('trustFile'),
    packSignatures: read.choice('packSignatures', ['manifest', 'files'], 'manifest'),
    sandbox: read.choice('sandbox', ['os', 'permission-only'], 'os'),
    sandboxUids: uidsOf(read.text('sandboxUids')),
    pythonUnfiltered: read.isOn('pythonUnfiltered'),
    packMemoryMb: read.whole('packMemoryMb', 256, 16, 65_536),
    packTimeoutSeconds: read.whole('packTimeoutSeconds', 30, 1, 86_400),
    poisonEnds: read.whole('poisonEnds', 3, 0, 100),
    packEnvironment: environmentOf(read.list('packEnvironment'), env),
    backends: {
      kv: server('kv'),
      cache: server('cache'),
      documents: server('documents'),
      vectors: server('vectors'),
      search: server('search'),
      queue: server('queue'),
      blobs: server('blobs'),
      datasources: read.text('datasources'),
    },
    dnsServers: dnsServersOf(read.list('dnsServers')),
    buckets: bucketsOf(read.list('buckets', 'artifacts')),
    serveRegistry: read.isOn('serveRegistry'),
    testSeams: read.isOn('testSeams'),
  };
}
