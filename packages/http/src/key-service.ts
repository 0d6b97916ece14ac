/** Operations on API keys, with their access checks. */
import { type CreateKeyRequest, isoTime, isRoleScope, type KeySummary, OpenwopError } from '@gantry/protocol';
import type { KeyRecord, Store, Write } from '@gantry/store';
import { HOST_ADMIN } from './access.ts';
import { isLiveKey } from './auth.ts';
import type { Caller } from './context.ts';
import type { Answer, RecordAnswer } from './idempotency.ts';
import type { AuditKey, KeyEvent } from './key-audit.ts';
import type { KeyCache } from './key-cache.ts';
import {
  hashSecret,
  isTestTenant,
  liveTenant,
  newKeyId,
  newPrincipal,
  newSecret,
  testTenant,
} from './key-secret.ts';

export const ROTATION_GRACE_SECONDS = 86_400;

/** A key by its id, in the caller's tenant or the tenant that an administrator names. */
export interface KeyAddress {
  readonly caller: Caller;
  readonly tenant: string | undefined;
  readonly keyId: string;
}

const summary = (key: KeyRecord): KeySummary => ({
  keyId: key.keyId,
  tenant: key.tenant,
  workspace: key.workspace,
  principal: key.principal,
  name: key.name,
  scopes: [...key.scopes],
  createdAt: isoTime(key.createdAt),
  ...(key.expiresAt !== null && { expiresAt: isoTime(key.expiresAt) }),
  ...(key.revokedAt !== null && { revokedAt: isoTime(key.revokedAt) }),
});

const forbidden = (scopeRequired: string): OpenwopError =>
  new OpenwopError('forbidden', { details: { scopeRequired } });

/** A caller can only manage keys whose scopes it has itself; otherwise it could extend its own rights. */
function checkScopes(caller: Caller, scopes: readonly string[]): void {
  const mayGive = (scope: string): boolean =>
    caller.scopes.has(scope) || (isRoleScope(scope) && caller.scopes.has(HOST_ADMIN));
  const missing = scopes.find((scope) => !mayGive(scope));
  if (missing !== undefined) throw forbidden(missing);
}

/** The live tenant of a request: the caller's own, unless it may act for all. */
function namedTenant(caller: Caller, tenant: string | undefined): string {
  const home = liveTenant(caller.tenant);
  if (tenant === undefined || tenant === home) return home;
  if (!caller.scopes.has(HOST_ADMIN)) throw forbidden(HOST_ADMIN);
  return tenant;
}

/** Without the right to act for all, a key creates, sees and rotates keys of its own workspace. */
function keyWorkspace(caller: Caller, workspace = caller.workspace): string {
  if (workspace !== caller.workspace && !caller.scopes.has(HOST_ADMIN)) throw forbidden(HOST_ADMIN);
  return workspace;
}

/** A test key can only create test keys. */
function keyTenant(caller: Caller, wanted: CreateKeyRequest): string {
  const tenant = namedTenant(caller, wanted.tenant);
  const { test = isTestTenant(caller.tenant) } = wanted;
  if (!test && isTestTenant(caller.tenant)) {
    throw new OpenwopError('forbidden', { message: 'A test key can only make test keys. Use a live key.' });
  }
  return test ? testTenant(tenant) : tenant;
}

/** A repeat must neither create a second key nor find the secret of the first one in storage. */
const SHOWN_ONCE = {
  status: 409,
  body: JSON.stringify({
    error: 'conflict',
    message: 'This request already made a key, which was shown once. Rotate that key to get a new secret.',
    details: { retriable: false },
  }),
};

interface Wanted extends Pick<KeyRecord, 'tenant' | 'workspace' | 'principal' | 'name' | 'scopes'> {
  readonly lifetimeMs: number | null;
}

export interface KeyServiceOptions {
  readonly store: Pick<Store, 'records' | 'commit'>;
  readonly cache: KeyCache;
  readonly audit?: AuditKey;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

export class KeyService {
  readonly #options: KeyServiceOptions;

  constructor(options: KeyServiceOptions) {
    this.#options = options;
  }

  async list(caller: Caller, tenant: string | undefined): Promise<KeySummary[]> {
    return (await this.#keysOf(caller, tenant)).map(summary);
  }

  create(
    caller: Caller,
    wanted: CreateKeyRequest,
    record: RecordAnswer | undefined,
  ): Promise<Answer | 'duplicate'> {
    const tenant = keyTenant(caller, wanted);
    const workspace = keyWorkspace(caller, wanted.workspace);
    const { name, scopes, expiresInSeconds } = wanted;
    checkScopes(caller, scopes);
    const lifetimeMs = expiresInSeconds === undefined ? null : expiresInSeconds * 1000;
    const principal = newPrincipal(this.#options.randomBytes);
    const { key, body } = this.#mint({ tenant, workspace, principal, name, scopes, lifetimeMs });
    const created = { type: 'key.created', key, by: caller.principal } as const;
    return this.#put([key], [created], record, { status: 201, body }, SHOWN_ONCE);
  }

  /** The new key gets the principal and the lifetime of the old one; the old key ends with its grace period. */
  async rotate(
    address: KeyAddress,
    graceSeconds: number,
    record: RecordAnswer | undefined,
  ): Promise<Answer | 'duplicate'> {
    const old = await this.#find(address);
    const at = this.#options.now();
    if (!isLiveKey(old, at)) {
      throw new OpenwopError('conflict', { message: 'This key is no longer valid. Create a new one.' });
    }
    const { tenant, workspace, principal, name, scopes } = old;
    const lifetimeMs = old.expiresAt === null ? null : old.expiresAt - old.createdAt;
    const { key, body } = this.#mint({ tenant, workspace, principal, name, scopes, lifetimeMs });
    const graceEnd = at + graceSeconds * 1000;
    const retired = { ...old, expiresAt: Math.min(old.expiresAt ?? graceEnd, graceEnd) };
    const created = { type: 'key.created', key, by: address.caller.principal } as const;
    return this.#put([key, retired], [created], record, { status: 201, body }, SHOWN_ONCE);
  }

  async revoke(address: KeyAddress, record: RecordAnswer | undefined): Promise<Answer | 'duplicate'> {
    const key = await this.#find(address);
    const revoked = { ...key, revokedAt: key.revokedAt ?? this.#options.now() };
    const answer = { status: 200, body: JSON.stringify(summary(revoked)) };
    const event = { type: 'key.revoked', key: revoked, by: address.caller.principal } as const;
    return this.#put([revoked], key.revokedAt === null ? [event] : [], record, answer, answer);
  }

  async #keysOf(caller: Caller, tenant: string | undefined): Promise<KeyRecord[]> {
    const { records } = this.#options.store;
    const live = namedTenant(caller, tenant);
    const tenants = isTestTenant(caller.tenant) ? [testTenant(live)] : [live, testTenant(live)];
    const keys = (await Promise.all(tenants.map((each) => records.keys(each)))).flat();
    return caller.scopes.has(HOST_ADMIN) ? keys : keys.filter((key) => key.workspace === caller.workspace);
  }

  async #find({ caller, tenant, keyId }: KeyAddress): Promise<KeyRecord> {
    const key = (await this.#keysOf(caller, tenant)).find((candidate) => candidate.keyId === keyId);
    if (key === undefined) throw new OpenwopError('not_found');
    checkScopes(caller, key.scopes);
    return key;
  }

  #mint(wanted: Wanted) {
    const { now, randomBytes } = this.#options;
    const { lifetimeMs, ...rest } = wanted;
    const secret = newSecret(rest.tenant, randomBytes);
    const createdAt = now();
    const key: KeyRecord = {
      ...rest,
      keyId: newKeyId(randomBytes),
      hash: hashSecret(secret),
      createdAt,
      expiresAt: lifetimeMs === null ? null : createdAt + lifetimeMs,
      revokedAt: null,
    };
    return { key, body: JSON.stringify({ ...summary(key), key: secret }) };
  }

  /** Writes the keys and the response for a repeated request, in one commit. */
  async #put(
    keys: readonly KeyRecord[],
    events: readonly KeyEvent[],
    record: RecordAnswer | undefined,
    answer: Omit<Answer, 'recorded'>,
    replay: Omit<Answer, 'recorded'>,
  ): Promise<Answer | 'duplicate'> {
    const { store, cache, now, audit } = this.#options;
    const writes: Write[] = keys.map((key) => ({ kind: 'putKey', record: key }));
    if (audit) writes.push(...events.map(audit));
    const group = record
      ? [...writes, { kind: 'idempotency', record: record(replay.status, replay.body), now: now() } as const]
      : writes;
    const [result] = await store.commit([group]);
    cache.clear();
    return result?.won === false ? 'duplicate' : { ...answer, recorded: true };
  }
}
