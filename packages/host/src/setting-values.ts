/** Readers of settings that are more than a text, a number or a switch. Their errors name the accepted values. */
import { isIP } from 'node:net';
import { type AllowEntry, readAllowList } from '@gantry/egress';
import { type Read, read, SettingsError } from '@gantry/http';
import { PACK_NAME, readMirrors, readRegistries } from '@gantry/packs';
import { DEFAULT_UIDS, type UidRange } from '@gantry/sandbox';
import { IN_DATA_FOLDER, notServed, readQuota, TOOL_NAMES } from '@gantry/surfaces';
import { keyVariables } from './ai/providers/key-offers.ts';
import type { SecretVariable } from './credentials/external-stores.ts';
import { readToolRule } from './tools/tool-rules.ts';

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Adds the name of the setting to errors. */
function named<T>(name: string, readValue: Read<T>): Read<T> {
  return (...given) => {
    try {
      return readValue(...given);
    } catch (error) {
      throw new SettingsError(`${name}: ${wordsOf(error)}`);
    }
  };
}

export const registriesOf = named<readonly string[]>('GANTRY_REGISTRY_URL', readRegistries);

export function egressAllowOf(text: string | undefined): readonly AllowEntry[] {
  try {
    return readAllowList(text);
  } catch (error) {
    throw new SettingsError(wordsOf(error));
  }
}

/** The mirrored registries, by the name of the mirror. */
export const mirrorsOf = named('GANTRY_REGISTRY_MIRRORS', (...given) => readMirrors(read.list()(...given)));

const twiceIn = (names: readonly string[]): string | undefined =>
  names.find((name, at) => names.indexOf(name) !== at);

const withTenant = (name: string, tenant = ''): string => (tenant === '' ? name : `${name}@${tenant}`);

export const toolRulesOf = named('GANTRY_TOOLS', (...given) => {
  const texts = read.list()(...given);
  const entries = texts.map((entry) => readToolRule(entry, TOOL_NAMES));
  const twice = twiceIn(entries.map(({ tool, tenant }) => withTenant(tool, tenant)));
  if (twice !== undefined) throw new Error(`${twice} has more than one rule.`);
  return entries;
});

export const quotasOf = named('GANTRY_QUOTAS', (...given) => {
  const texts = read.list()(...given);
  const entries = texts.map(readQuota);
  const twice = twiceIn(entries.map(({ name, tenant }) => withTenant(name, tenant)));
  if (twice !== undefined) throw new Error(`${twice} has more than one size.`);
  return entries;
});

/** Used in keys of S3 and in links, so nothing that has to be escaped there. */
const BUCKET = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;
const BUCKETS_MAX = 100;

export const bucketsOf: Read<readonly string[]> = (...given) => {
  const buckets = read.list('artifacts')(...given);
  const wrong = buckets.find((name) => !BUCKET.test(name));
  if (wrong !== undefined)
    throw new SettingsError(
      `GANTRY_BUCKETS: "${wrong}" is not a valid bucket name. Use 1 to 63 lower-case letters, digits, dots, hyphens and ` +
        'underscores, with a letter or digit at both ends.',
    );
  const twice = twiceIn(buckets);
  if (twice !== undefined) throw new SettingsError(`GANTRY_BUCKETS names "${twice}" twice.`);
  if (buckets.length === 0 || buckets.length > BUCKETS_MAX)
    throw new SettingsError(`GANTRY_BUCKETS must name 1 to ${BUCKETS_MAX} buckets, separated by commas.`);
  return buckets;
};

const WITH_PORT = /^(?:\[(.+)\]|([\d.]+)):\d{1,5}$/;

/** Addresses of name servers, with or without a port: `192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`. */
export const dnsServersOf: Read<readonly string[]> = (...given) => {
  const servers = read.list()(...given);
  for (const server of servers) {
    const [, v6, v4] = WITH_PORT.exec(server) ?? [];
    if (isIP(v6 ?? v4 ?? server) === 0)
      throw new SettingsError(
        `GANTRY_DNS_SERVERS: "${server}" is not an address such as 192.0.2.1 or [2001:db8::1]:53.`,
      );
  }
  return servers;
};

/** The maximum number of processes of a host, with a margin. */
const UIDS_MIN = 64;
const UID_MAX = 2 ** 32 - 2;

export function uidsOf(text: string | undefined): UidRange {
  if (text === undefined) return DEFAULT_UIDS;
  const [, first = 0, last = 0] = (/^(\d+)-(\d+)$/.exec(text) ?? []).map(Number);
  if (first > 0 && last <= UID_MAX && last - first + 1 >= UIDS_MIN) return { first, last };
  throw new SettingsError(
    `GANTRY_SANDBOX_UIDS must be a range of at least ${UIDS_MIN} unused uids, such as 61184-65519, not "${text}".`,
  );
}

/** By the name of the pack. Settings of the host contain its secrets, so packs never see them. */
export const environmentOf: Read<Readonly<Record<string, Readonly<Record<string, string>>>>> = (
  text,
  name,
  env,
) => {
  const byPack: Record<string, Record<string, string>> = {};
  for (const pair of read.list()(text, name, env)) {
    const [pack = '', variable = '', ...rest] = pair.split(':');
    if (pack === '' || variable === '' || rest.length > 0)
      throw new SettingsError(
        `GANTRY_PACK_ENV: "${pair}" is not PACK:VARIABLE, such as vendor.acme.crm:CRM_REGION.`,
      );
    if (variable.startsWith('GANTRY_'))
      throw new SettingsError(`GANTRY_PACK_ENV must not name ${variable}: packs see no settings.`);
    const value = env[variable];
    byPack[pack] = { ...byPack[pack], ...(value !== undefined && { [variable]: value }) };
  }
  return byPack;
};

export const packNamesOf: Read<readonly string[]> = (text, name, env) => {
  const names = read.list()(text, name, env);
  const wrong = names.find((each) => !PACK_NAME.test(each));
  if (wrong === undefined) return names;
  throw new SettingsError(`${name}: "${wrong}" is not the name of a pack, such as vendor.acme.crm.`);
};

const SECRET_VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?:@(.+))?$/;

/** Variables of the environment that credentials may name; one without a tenant belongs to the tenant `default`. */
export const secretVariablesOf: Read<readonly SecretVariable[]> = (text, name, env) =>
  read
    .list()(text, name, env)
    .map((entry) => {
      const [, variable, tenant = 'default'] = SECRET_VARIABLE.exec(entry) ?? [];
      if (variable === undefined)
        throw new SettingsError(`GANTRY_SECRETS_ENV: "${entry}" is not NAME or NAME@tenant.`);
      if (variable.startsWith('GANTRY_'))
        throw new SettingsError(`GANTRY_SECRETS_ENV must not name ${variable}, a setting of the host.`);
      return { tenant, name: variable, value: env[variable] };
    });

/** Keys of model providers under their usual names. */
export const aiKeysOf: Read<readonly SecretVariable[]> = (text = 'on', name, env) => {
  if (text !== 'on' && text !== 'off') throw new SettingsError(`${name} must be on or off, not "${text}".`);
  return text === 'on' ? keyVariables(env) : [];
};

const MASTER_KEY_LENGTH_MIN = 32;

export const masterKeyOf: Read<string | undefined> = (text, name) => {
  if (text === undefined || text.length >= MASTER_KEY_LENGTH_MIN) return text;
  throw new SettingsError(`${name} must have at least ${MASTER_KEY_LENGTH_MIN} random characters.`);
};

/** A test compares them with the schemes that the surfaces open. */
const SCHEMES = {
  postgres: ['postgres', 'postgresql'],
  blobs: ['postgres', 'postgresql', 's3'],
} as const;

export const backend =
  (kind: keyof typeof SCHEMES): Read<string | undefined> =>
  (text, name) => {
    if (text === undefined || text === IN_DATA_FOLDER) return text;
    const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : null;
    if (SCHEMES[kind].some((each) => each === scheme)) return text;
    throw new SettingsError(notServed(name, text, SCHEMES[kind]));
  };
