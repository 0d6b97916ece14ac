/** Settings from flags and environment. Flags take precedence. An unknown flag is refused by name. */
import { existsSync } from 'node:fs';
import {
  adminKeyOf,
  adminKeyWarnings,
  type Environment,
  givenTexts,
  read,
  readTable,
  SettingsError,
  type SettingsOf,
  setting,
  usageOf,
} from '@gantry/http';
import type { BackendSettings } from '@gantry/surfaces';
import { unknownNames } from './setting-names.ts';
import {
  aiKeysOf,
  backend,
  bucketsOf,
  dnsServersOf,
  egressAllowOf,
  environmentOf,
  masterKeyOf,
  mirrorsOf,
  packNamesOf,
  quotasOf,
  registriesOf,
  secretVariablesOf,
  toolRulesOf,
  uidsOf,
} from './setting-values.ts';

export { SettingsError };

const stored = (name: string, what: string) =>
  setting(`${name}: ${what} of packs: postgres:// or data-folder (GANTRY_DATABASE_URL)`, backend('postgres'));

/** Servers that store the data of packs. */
const BACKENDS = {
  kv: stored('GANTRY_KV', 'keys'),
  cache: stored('GANTRY_CACHE', 'cache'),
  documents: stored('GANTRY_DOCUMENTS', 'tables and documents'),
  vectors: stored('GANTRY_VECTORS', 'vectors'),
  search: stored('GANTRY_SEARCH', 'full text'),
  queue: stored('GANTRY_QUEUE', 'queues'),
  blobs: setting(
    'GANTRY_BLOBS: objects of packs: s3://bucket/prefix, postgres:// or data-folder (GANTRY_DATABASE_URL)',
    backend('blobs'),
  ),
  datasources: setting(
    'GANTRY_DATASOURCES: a JSON file of SQL databases that packs may use (none)',
    read.text,
  ),
} satisfies Record<Exclude<keyof BackendSettings, 'database'>, unknown>;

const OWN = {
  host: setting('GANTRY_HOST --host: address to listen on', read.textOr('127.0.0.1')),
  port: setting('GANTRY_PORT --port: port to listen on; 0 takes any free one', read.whole(7070, 0, 65_535)),
  dataDir: setting('GANTRY_DATA_DIR --data: folder for everything durable', read.textOr('./.gantry')),
  databaseUrl: setting(
    'GANTRY_DATABASE_URL --database: postgres://... for runs and what packs store (SQLite in the data folder)',
    read.databaseUrl,
  ),
  logLevel: setting('GANTRY_LOG --log: trace, debug, info, warn, error, fatal or silent', read.logLevel),
  publicUrl: setting(
    'GANTRY_PUBLIC_URL: address under which clients reach it, for links (the one it listens on)',
    read.publicUrl,
  ),
  interruptLinkDays: setting(
    'GANTRY_INTERRUPT_LINK_DAYS: how long a link made for a person works where the interrupt has no deadline',
    read.whole(7, 1, 366),
  ),
  databaseTimeoutSeconds: setting(
    'GANTRY_DATABASE_TIMEOUT_SECONDS: time that PostgreSQL may take for one statement',
    read.whole(15, 1, 3_600),
  ),
  adminKey: setting(
    'GANTRY_ADMIN_KEY: admin key that works while it is set here; 32 characters or more (else one is made)',
    adminKeyOf,
  ),
  workflowsDir: setting(
    'GANTRY_WORKFLOWS_DIR --workflows: folder of *.json definitions',
    read.textOr('./workflows'),
  ),
  retentionDays: setting(
    'GANTRY_RETENTION_DAYS --retention-days: how long ended runs are kept; at least 7',
    read.whole(30, 7, 36_500),
  ),
  inflightCap: setting(
    'GANTRY_INFLIGHT_CAP --inflight-cap: runs worked on at once before 503',
    read.whole(2_000, 1, 1_000_000),
  ),
  masterKey: setting(
    'GANTRY_MASTER_KEY: key of what is encrypted at rest (else master.key in the data folder)',
    masterKeyOf,
  ),
  masterKeyOld: setting(
    'GANTRY_MASTER_KEY_OLD: the master key before, for one start: the database moves to the new one (none)',
    masterKeyOf,
  ),
  secretVariables: setting(
    'GANTRY_SECRETS_ENV: environment variables that credentials may name: NAME or NAME@tenant, separated by commas (none)',
    secretVariablesOf,
  ),
  secretsDir: setting(
    'GANTRY_SECRETS_DIR: folder of files that credentials may name, one folder per tenant (none)',
    read.text,
  ),
  ai: setting('GANTRY_AI: a JSON file of model endpoints, policies and prices (none)', read.text),
  aiKeys: setting(
    'GANTRY_AI_KEYS: off leaves ANTHROPIC_API_KEY, OPENAI_API_KEY and the like alone; else they are credentials of the tenant default (on)',
    aiKeysOf,
  ),
  ollamaHost: setting('OLLAMA_HOST: where Ollama is, asked when it is named (127.0.0.1:11434)', read.text),
  egressAllow: setting(
    'GANTRY_EGRESS_ALLOW: what may be called beyond public https: purpose[@tenant]=scheme://host[:port], separated by commas (none)',
    egressAllowOf,
  ),
  quotas: setting(
    'GANTRY_QUOTAS: how much tenants may keep, where it differs from docs/storage.md: name[@tenant]=size, separated by commas',
    quotasOf,
  ),
  packs: setting(
    'GANTRY_PACKS --packs: packs to install for every tenant: name@range or folder, separated by commas',
    read.list(),
  ),
  registries: setting(
    'GANTRY_REGISTRY_URL --registry: registry of packs, and fallbacks, separated by commas: https://... or a folder (none)',
    registriesOf,
  ),
  registryKey: setting(
    'GANTRY_REGISTRY_KEY: key for private packs, sent to the first registry alone (none)',
    read.text,
  ),
  registryMirrors: setting(
    'GANTRY_REGISTRY_MIRRORS: REGISTRY=MIRROR pairs: lockfiles made against the first install from the second (none)',
    mirrorsOf,
  ),
  packLock: setting(
    'GANTRY_PACK_LOCK: lockfile: packs by name are installed exactly as it lists them (none)',
    read.text,
  ),
  trustFile: setting(
    'GANTRY_TRUST --trust: JSON file of trusted signers and registries (uploads: open; registries: verified)',
    read.text,
  ),
  packSignatures: setting(
    'GANTRY_PACK_SIGNATURES: files takes verified packs only if their files are signed or pinned',
    read.choice(['manifest', 'files'], 'manifest'),
  ),
  sandbox: setting(
    'GANTRY_SANDBOX: os, or permission-only where the machine cannot isolate and every pack is trusted',
    read.choice(['os', 'permission-only'], 'os'),
  ),
  sandboxUids: setting(
    'GANTRY_SANDBOX_UIDS: uids for pack processes of a host that is root, at least 64 (61184-65519)',
    uidsOf,
  ),
  pythonUnfiltered: setting(
    'GANTRY_PYTHON_UNFILTERED: 1 runs Python packs even where their system calls cannot be filtered',
    read.isOn,
  ),
  packMemoryMb: setting(
    'GANTRY_PACK_MEMORY_MB: memory of a pack process in MiB',
    read.whole(256, 16, 65_536),
  ),
  packTimeoutSeconds: setting(
    'GANTRY_PACK_TIMEOUT_SECONDS: time that one call of pack code may take',
    read.whole(30, 1, 86_400),
  ),
  poisonEnds: setting(
    'GANTRY_POISON_ENDS: unclean ends in a row after which a running pack node fails; 0 is never',
    read.whole(3, 0, 100),
  ),
  toolCallsPerMinute: setting(
    'GANTRY_TOOL_CALLS_PER_MINUTE: calls of one tool by one principal, in all processes',
    read.whole(6_000, 1, 1_000_000),
  ),
  outOfAudience: setting(
    'GANTRY_CREDENTIALS_OUT_OF_AUDIENCE: deny refuses a request with a credential to another host than its audiences; downgrade sends it without',
    read.choice(['deny', 'downgrade'], 'deny'),
  ),
  budgetMaxTokens: setting(
    'GANTRY_BUDGET_MAX_TOKENS: tokens that one run and its family may use at most (no limit)',
    read.amount({ isWhole: true }),
  ),
  budgetMaxCostUsd: setting(
    'GANTRY_BUDGET_MAX_COST_USD: US dollars that one run and its family may spend at most (no limit)',
    read.amount({ isWhole: false }),
  ),
  budgetTokensPerDay: setting(
    'GANTRY_BUDGET_TOKENS_PER_DAY: tokens that a workspace may use in a day, UTC (no limit)',
    read.amount({ isWhole: true }),
  ),
  budgetCostUsdPerDay: setting(
    'GANTRY_BUDGET_COST_USD_PER_DAY: US dollars that a workspace may spend in a day, UTC (no limit)',
    read.amount({ isWhole: false }),
  ),
  budgetEnforce: setting(
    'GANTRY_BUDGET_ENFORCE: hard ends or asks when a budget is used up, advisory only reports',
    read.choice(['hard', 'advisory'], 'hard'),
  ),
  toolRules: setting(
    'GANTRY_TOOLS: which tools packs may call: TOOL[@TENANT]=allow, approve, approve-writes or forbid, separated by commas (all)',
    toolRulesOf,
  ),
  packEnvironment: setting(
    'GANTRY_PACK_ENV: PACK:VARIABLE pairs that packs of GANTRY_PACKS may read, separated by commas (none)',
    environmentOf,
  ),
  packOutputsWarned: setting(
    'GANTRY_PACK_OUTPUTS_WARN: packs whose nodes may give what their output schema does not allow, separated by commas (none)',
    packNamesOf,
  ),
  dnsServers: setting(
    'GANTRY_DNS_SERVERS: name servers for webhooks and packs: addresses, separated by commas (those of the machine)',
    dnsServersOf,
  ),
  buckets: setting(
    'GANTRY_BUCKETS: buckets of objects, separated by commas; the first is meant where none is named (artifacts)',
    bucketsOf,
  ),
  serveRegistry: setting(
    'GANTRY_REGISTRY_SERVE: 1 makes the host a registry of packs too, in its data folder',
    read.isOn,
  ),
  canarySecret: setting(
    'GANTRY_CANARY_SECRET: with the seams: the secret that the conformance suite looks for (a random one)',
    read.text,
  ),
  testSeams: setting('GANTRY_TEST_SEAMS: 1 serves the seams of the conformance suite, with a key', read.isOn),
};

const SERVED = { ...OWN, ...BACKENDS };

export type Settings = SettingsOf<typeof OWN> & { readonly backends: BackendSettings };

export const usage = (): string => usageOf(SERVED);

/** Sentences about probable mistakes of the operator. The host still starts. */
export function settingWarnings(args: readonly string[], env: Environment): string[] {
  const folder = givenTexts(SERVED, args, env).workflowsDir;
  const names = Object.values(SERVED).map((each) => each.env);
  return [
    ...unknownNames(env, names),
    ...adminKeyWarnings(env),
    ...(folder === undefined || existsSync(folder)
      ? []
      : [
          `There is no folder ${folder}, so no workflows are loaded from it. Check --workflows or GANTRY_WORKFLOWS_DIR.`,
        ]),
  ];
}

export function readSettings(args: readonly string[], env: Environment): Settings {
  const all = readTable(SERVED, args, env);
  const { kv, cache, documents, vectors, search, queue, blobs, datasources, ...own } = all;
  return { ...own, backends: { kv, cache, documents, vectors, search, queue, blobs, datasources } };
}
