/** The key the operator starts with. */
import { SCOPES } from '@gantry/protocol';
import type { KeyRecord, Store } from '@gantry/store';
import { HOST_ADMIN } from './access.ts';
import { hashSecret } from './auth.ts';
import { newKeyId, newSecret } from './key-secret.ts';

export const DEFAULT_TENANT = 'default';
/** One id for the key in the environment: another value there replaces the one before. */
const ENVIRONMENT_KEY_ID = 'key_environment';
const ADMIN_SCOPES: readonly string[] = [...SCOPES, HOST_ADMIN];

interface AdminKeyOptions {
  /** The value of `GANTRY_API_KEY`. */
  readonly apiKey?: string;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

const adminKey = (keyId: string, secret: string, at: number): KeyRecord => ({
  keyId,
  tenant: DEFAULT_TENANT,
  name: 'admin',
  hash: hashSecret(secret),
  scopes: ADMIN_SCOPES,
  createdAt: at,
  expiresAt: null,
  revokedAt: null,
});

const works = (key: KeyRecord, at: number): boolean =>
  key.revokedAt === null && (key.expiresAt === null || key.expiresAt > at);

/** Scopes that came with a newer version belong to every admin key. */
const isOutdated = (key: KeyRecord): boolean => ADMIN_SCOPES.some((scope) => !key.scopes.includes(scope));

/** Makes sure that some admin key works. `created` is a new one, to be shown once. */
export async function ensureAdminKey(
  store: Pick<Store, 'records' | 'commit'>,
  { apiKey, now, randomBytes }: AdminKeyOptions,
): Promise<{ created?: string }> {
  const at = now();
  const keys = await store.records.keys(DEFAULT_TENANT);
  const admins = keys.filter((key) => key.scopes.includes(HOST_ADMIN) && works(key, at));
  const put = admins.filter(isOutdated).map((key) => ({ ...key, scopes: ADMIN_SCOPES }));
  let created: string | undefined;
  if (apiKey !== undefined) {
    if (!admins.some((key) => key.hash === hashSecret(apiKey))) {
      put.push(adminKey(ENVIRONMENT_KEY_ID, apiKey, at));
    }
  } else if (admins.length === 0) {
    created = newSecret(DEFAULT_TENANT, randomBytes);
    put.push(adminKey(newKeyId(randomBytes), created, at));
  }
  if (put.length > 0) await store.commit([put.map((record) => ({ kind: 'putKey', record }))]);
  return created === undefined ? {} : { created };
}
