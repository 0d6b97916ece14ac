/** The first key of the operator. */
import { DEFAULT_WORKSPACE, SCOPES } from '@gantry/protocol';
import type { KeyRecord, Store, Write } from '@gantry/store';
import { HOST_ADMIN } from './access.ts';
import { isLiveKey } from './auth.ts';
import type { AuditKey, KeyEvent } from './key-audit.ts';
import { hashSecret, newKeyId, newPrincipal, newSecret } from './key-secret.ts';
import { type Environment, type Read, SettingsError } from './setting-readers.ts';

export const DEFAULT_TENANT = 'default';
const ADMIN_KEY_VARIABLE = 'GANTRY_ADMIN_KEY';
const ADMIN_KEY_LENGTH_MIN = 32;
/** The fixed id of the key from the environment: a new value replaces the previous one. */
const ENVIRONMENT_KEY_ID = 'key_environment';
const ENVIRONMENT_PRINCIPAL = 'principal_environment';
const ADMIN_SCOPES: readonly string[] = [...SCOPES, HOST_ADMIN];
const SHOWN_NAME = 'admin';
/** The name of a key until it was printed. If a start ends before that, a later start must create another key. */
const UNSHOWN_NAME = 'admin, not shown';

export const adminKeyOf: Read<string | undefined> = (text, name) => {
  if (text === undefined || text.length >= ADMIN_KEY_LENGTH_MIN) return text;
  throw new SettingsError(`${name} must have at least ${ADMIN_KEY_LENGTH_MIN} random characters.`);
};

/** The line of the greeting that says which admin key works. */
export function adminKeyLine({ created }: Pick<AdminKey, 'created'>, env: Environment): string[] {
  if (created !== undefined) return [`Admin key (shown once, keep it): ${created}`];
  return env[ADMIN_KEY_VARIABLE] ? [`Admin key: the one in ${ADMIN_KEY_VARIABLE}`] : [];
}

/** A warning for a start with a key of the command line, which may have been meant as the admin key. */
export const adminKeyWarnings = (env: Environment): string[] =>
  env.GANTRY_API_KEY && !env[ADMIN_KEY_VARIABLE]
    ? [
        `GANTRY_API_KEY is for the command line and is not used here. To set the admin key, use ${ADMIN_KEY_VARIABLE}.`,
      ]
    : [];

export interface AdminKeyOptions {
  /** The value of `GANTRY_ADMIN_KEY`. */
  readonly adminKey?: string | undefined;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly audit?: AuditKey;
}

export interface AdminKey {
  /** A new key, to be shown once. */
  readonly created?: string;
  /** A key of the operator that works. */
  readonly record: KeyRecord;
  /** Records that the key was shown, so that later starts create no other. */
  shown(): Promise<void>;
}

type Named = Pick<KeyRecord, 'keyId' | 'principal' | 'name'>;

const newAdminKey = (named: Named, secret: string, at: number): KeyRecord => ({
  ...named,
  tenant: DEFAULT_TENANT,
  workspace: DEFAULT_WORKSPACE,
  hash: hashSecret(secret),
  scopes: ADMIN_SCOPES,
  createdAt: at,
  expiresAt: null,
  revokedAt: null,
});

const isAdmin = (key: KeyRecord, at: number): boolean =>
  key.scopes.includes(HOST_ADMIN) && isLiveKey(key, at);

/** After this time, the start that did not show the key has ended; a start takes seconds. */
const START_MS_MAX = 60_000;
const isForgotten = ({ name, createdAt }: KeyRecord, at: number): boolean =>
  name === UNSHOWN_NAME && createdAt < at - START_MS_MAX;

/** Scopes of a newer version are added to every admin key. */
const isOutdated = (key: KeyRecord): boolean => ADMIN_SCOPES.some((scope) => !key.scopes.includes(scope));

/** Ensures that there is a working admin key that the operator knows. */
export async function ensureAdminKey(
  store: Pick<Store, 'records' | 'commit'>,
  { adminKey, now, randomBytes, audit }: AdminKeyOptions,
): Promise<AdminKey> {
  const at = now();
  const put = (records: readonly KeyRecord[], acts: readonly Write[] = []): Promise<unknown> =>
    store.commit([[...records.map((record) => ({ kind: 'putKey', record }) as const), ...acts]]);
  const keys = await store.records.keys(DEFAULT_TENANT);
  const stored = keys.filter((key) => key.keyId !== ENVIRONMENT_KEY_ID && isAdmin(key, at));
  const changed = stored.filter(isOutdated).map((key) => ({ ...key, scopes: ADMIN_SCOPES }));
  changed.push(...stored.filter((key) => isForgotten(key, at)).map((key) => ({ ...key, revokedAt: at })));
  const given = await givenKey(store, adminKey, at);
  changed.push(...environmentKey(keys, given, at));
  const secret =
    adminKey === undefined && stored.every(({ name }) => name === UNSHOWN_NAME)
      ? newSecret(DEFAULT_TENANT, randomBytes)
      : undefined;
  const named = { keyId: newKeyId(randomBytes), principal: newPrincipal(randomBytes), name: UNSHOWN_NAME };
  const made = secret === undefined ? [] : [newAdminKey(named, secret, at)];
  const puts = [...changed, ...made];
  const events = puts.flatMap((key) =>
    eventOf(
      key,
      keys.find(({ keyId }) => keyId === key.keyId),
    ),
  );
  if (puts.length > 0) await put(puts, audit ? events.map(audit) : []);
  return {
    ...(secret !== undefined && { created: secret }),
    record: made[0] ?? given ?? stored.find((key) => !isForgotten(key, at)) ?? stored[0]!,
    shown: async () => {
      if (made.length > 0) await put(made.map((key) => ({ ...key, name: SHOWN_NAME })));
    },
  };
}

/** What a start does to a key. A new value of the key from the environment is another key with the same id. */
function eventOf(key: KeyRecord, before: KeyRecord | undefined): KeyEvent[] {
  if (key.revokedAt !== null) return [{ type: 'key.revoked', key, by: 'host' }];
  return before?.hash === key.hash && before.revokedAt === null
    ? []
    : [{ type: 'key.created', key, by: 'host' }];
}

/** The key from the environment; undefined if it is an admin key already. A stored key never gets more rights. */
async function givenKey(
  { records }: Pick<Store, 'records'>,
  adminKey: string | undefined,
  at: number,
): Promise<KeyRecord | undefined> {
  if (adminKey === undefined) return undefined;
  const named = { keyId: ENVIRONMENT_KEY_ID, principal: ENVIRONMENT_PRINCIPAL, name: SHOWN_NAME };
  const key = newAdminKey(named, adminKey, at);
  const known = await records.keyByHash(key.hash);
  if (!known || known.keyId === ENVIRONMENT_KEY_ID) return key;
  if (known.tenant === DEFAULT_TENANT && isAdmin(known, at)) return undefined;
  throw new SettingsError(
    `${ADMIN_KEY_VARIABLE} is the secret of ${known.keyId}, which is not an admin key. Set another value.`,
  );
}

/** The changes to the stored key: a new value replaces it, and it is revoked when the variable is removed. */
function environmentKey(
  keys: readonly KeyRecord[],
  given: KeyRecord | undefined,
  at: number,
): readonly KeyRecord[] {
  const kept = keys.find(({ keyId, revokedAt }) => keyId === ENVIRONMENT_KEY_ID && revokedAt === null);
  if (given) return kept?.hash === given.hash && !isOutdated(kept) ? [] : [given];
  return kept ? [{ ...kept, revokedAt: at }] : [];
}
