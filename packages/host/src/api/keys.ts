import { OpenwopError, Scope } from '@gantry/protocol';
import type { KeyRecord } from '@gantry/store';
import Type, { type Static } from 'typebox';
import { HOST_ADMIN } from './access.ts';
import { hashSecret } from './auth.ts';
import { type Api, type ApiDeps, type Caller, callerOf } from './context.ts';
import type { Answer, Idempotency, RecordAnswer } from './idempotency.ts';
import type { KeyCache } from './key-cache.ts';
import { isTestTenant, liveTenant, newKeyId, newSecret, testTenant } from './key-secret.ts';
import { readPayload } from './reply.ts';

export { ensureAdminKey } from './admin-key.ts';

export const ROTATION_GRACE_SECONDS = 86_400;
const ROTATION_GRACE_MAX_SECONDS = 90 * 86_400;
const LIFETIME_MAX_SECONDS = 10 * 365 * 86_400;

const closed = { additionalProperties: false } as const;
const Tenant = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

const CreateKeyRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    scopes: Type.Array(Scope, { minItems: 1, uniqueItems: true }),
    tenant: Type.Optional(Tenant),
    test: Type.Optional(Type.Boolean()),
    expiresInSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: LIFETIME_MAX_SECONDS })),
  },
  closed,
);
type CreateKeyRequest = Static<typeof CreateKeyRequest>;

const RotateKeyRequest = Type.Object(
  { graceSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: ROTATION_GRACE_MAX_SECONDS })) },
  closed,
);

const KeySummary = Type.Object({
  keyId: Type.String(),
  tenant: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  createdAt: Type.String(),
  expiresAt: Type.Optional(Type.String()),
  revokedAt: Type.Optional(Type.String()),
});
type KeySummary = Static<typeof KeySummary>;

/** The one answer that holds the key itself. */
const NewKey = Type.Intersect([KeySummary, Type.Object({ key: Type.String() })]);

const KeyParams = Type.Object({ keyId: Type.String({ minLength: 1, maxLength: 128 }) });
const TenantQuery = Type.Object({ tenant: Type.Optional(Tenant) }, closed);

const isoTime = (at: number): string => new Date(at).toISOString();

const summary = (key: KeyRecord): KeySummary => ({
  keyId: key.keyId,
  tenant: key.tenant,
  name: key.name,
  scopes: [...key.scopes],
  createdAt: isoTime(key.createdAt),
  ...(key.expiresAt !== null && { expiresAt: isoTime(key.expiresAt) }),
  ...(key.revokedAt !== null && { revokedAt: isoTime(key.revokedAt) }),
});

const forbidden = (scopeRequired: string): OpenwopError =>
  new OpenwopError('forbidden', { details: { scopeRequired } });

/** Nobody handles a key that can do more than their own: that would be a way to get its power. */
function checkScopes(caller: Caller, scopes: readonly string[]): void {
  const missing = scopes.find((scope) => !caller.scopes.has(scope));
  if (missing !== undefined) throw forbidden(missing);
}

/** The live tenant a caller means; its own unless it may act for all. */
function namedTenant(caller: Caller, tenant: string | undefined): string {
  const home = liveTenant(caller.tenant);
  if (tenant === undefined || tenant === home) return home;
  if (!caller.scopes.has(HOST_ADMIN)) throw forbidden(HOST_ADMIN);
  return tenant;
}

/** A test key only ever makes test keys. */
function keyTenant(caller: Caller, request: CreateKeyRequest): string {
  const tenant = namedTenant(caller, request.tenant);
  const { test = isTestTenant(caller.tenant) } = request;
  if (!test && isTestTenant(caller.tenant)) {
    throw new OpenwopError('forbidden', { message: 'A test key can only make test keys. Use a live key.' });
  }
  return test ? testTenant(tenant) : tenant;
}

/** A repeat must neither make a second key nor find the first one's secret at rest. */
const SHOWN_ONCE = JSON.stringify({
  error: 'conflict',
  message: 'This request already made a key, which was shown once. Rotate that key to get a new secret.',
  details: { retriable: false },
});

export function keyRoutes(app: Api, deps: ApiDeps, cache: KeyCache, idempotency: Idempotency): void {
  const { store, now, randomBytes } = deps;

  async function keysOf(caller: Caller, tenant: string | undefined): Promise<KeyRecord[]> {
    if (isTestTenant(caller.tenant)) return store.records.keys(caller.tenant);
    const live = namedTenant(caller, tenant);
    const both = await Promise.all([store.records.keys(live), store.records.keys(testTenant(live))]);
    return both.flat();
  }

  async function find(caller: Caller, tenant: string | undefined, keyId: string): Promise<KeyRecord> {
    const key = (await keysOf(caller, tenant)).find((candidate) => candidate.keyId === keyId);
    if (key === undefined) throw new OpenwopError('not_found');
    checkScopes(caller, key.scopes);
    return key;
  }

  /** Writes the keys and the record of the answer in one commit. */
  async function put(
    keys: readonly KeyRecord[],
    record: RecordAnswer | undefined,
    answer: Omit<Answer, 'recorded'>,
    replay = answer,
  ): Promise<Answer | 'duplicate'> {
    const writes = keys.map((key) => ({ kind: 'putKey' as const, record: key }));
    const group = record
      ? [...writes, { kind: 'idempotency' as const, record: record(replay.status, replay.body), now: now() }]
      : writes;
    const [result] = await store.commit([group]);
    cache.clear();
    return result?.won === false ? 'duplicate' : { ...answer, recorded: true };
  }

  function mint(key: Omit<KeyRecord, 'keyId' | 'hash' | 'createdAt' | 'revokedAt'>) {
    const secret = newSecret(key.tenant, randomBytes);
    const record: KeyRecord = {
      ...key,
      keyId: newKeyId(randomBytes),
      hash: hashSecret(secret),
      createdAt: now(),
      revokedAt: null,
    };
    return { record, body: JSON.stringify({ ...summary(record), key: secret }) };
  }

  app.get(
    '/v1/host/gantry/keys',
    {
      schema: {
        summary: 'List keys, without their secrets',
        querystring: TenantQuery,
        response: { 200: Type.Object({ keys: Type.Array(KeySummary) }) },
      },
    },
    async (request, reply) => {
      const keys = await keysOf(callerOf(request), request.query.tenant);
      return readPayload(request, reply, JSON.stringify({ keys: keys.map(summary) }));
    },
  );

  app.post(
    '/v1/host/gantry/keys',
    {
      schema: { summary: 'Make a key; it is shown once', body: CreateKeyRequest, response: { 201: NewKey } },
    },
    (request, reply) =>
      idempotency.answer(request, reply, 'POST /v1/host/gantry/keys', async (record) => {
        const { body } = request;
        const caller = callerOf(request);
        const tenant = keyTenant(caller, body);
        checkScopes(caller, body.scopes);
        const { expiresInSeconds: seconds } = body;
        const expiresAt = seconds === undefined ? null : now() + seconds * 1000;
        const minted = mint({ tenant, name: body.name, scopes: body.scopes, expiresAt });
        const answer = { status: 201, body: minted.body };
        return put([minted.record], record, answer, { status: 409, body: SHOWN_ONCE });
      }),
  );

  app.post(
    '/v1/host/gantry/keys/:keyId/rotate',
    {
      schema: {
        summary: 'Make a new key in place of an old one, which works on for the grace time',
        params: KeyParams,
        querystring: TenantQuery,
        body: RotateKeyRequest,
        response: { 201: NewKey },
      },
    },
    (request, reply) => {
      const { keyId } = request.params;
      const operation = `POST /v1/host/gantry/keys/${keyId}/rotate`;
      return idempotency.answer(request, reply, operation, async (record) => {
        const old = await find(callerOf(request), request.query.tenant, keyId);
        const at = now();
        if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt <= at)) {
          throw new OpenwopError('conflict', { message: 'This key no longer works. Make a new one.' });
        }
        const { graceSeconds = ROTATION_GRACE_SECONDS } = request.body;
        const graceEnd = at + graceSeconds * 1000;
        const lifetime = old.expiresAt === null ? null : old.expiresAt - old.createdAt;
        const { tenant, name, scopes } = old;
        const minted = mint({ tenant, name, scopes, expiresAt: lifetime === null ? null : at + lifetime });
        const retired = { ...old, expiresAt: Math.min(old.expiresAt ?? graceEnd, graceEnd) };
        const answer = { status: 201, body: minted.body };
        return put([minted.record, retired], record, answer, { status: 409, body: SHOWN_ONCE });
      });
    },
  );

  app.delete(
    '/v1/host/gantry/keys/:keyId',
    {
      schema: {
        summary: 'Revoke a key at once',
        params: KeyParams,
        querystring: TenantQuery,
        response: { 200: KeySummary },
      },
    },
    (request, reply) => {
      const { keyId } = request.params;
      return idempotency.answer(request, reply, `DELETE /v1/host/gantry/keys/${keyId}`, async (record) => {
        const key = await find(callerOf(request), request.query.tenant, keyId);
        const revoked = { ...key, revokedAt: key.revokedAt ?? now() };
        return put([revoked], record, { status: 200, body: JSON.stringify(summary(revoked)) });
      });
    },
  );
}
