import { closedObject, RoleScope, Scope } from '@gantry/protocol';
import Type from 'typebox';
import { type Api, callerOf } from './context.ts';
import type { Idempotency } from './idempotency.ts';
import { KeyService, type KeyServiceOptions, ROTATION_GRACE_SECONDS } from './key-service.ts';
import { readPayload } from './reply.ts';

const ROTATION_GRACE_MAX_SECONDS = 90 * 86_400;
const LIFETIME_MAX_SECONDS = 10 * 365 * 86_400;
const KEYS_URL = '/v1/host/gantry/keys';

const Tenant = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

const CreateKeyRequest = closedObject({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  scopes: Type.Array(Type.Union([Scope, RoleScope]), { minItems: 1, maxItems: 256, uniqueItems: true }),
  tenant: Type.Optional(Tenant),
  test: Type.Optional(Type.Boolean()),
  expiresInSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: LIFETIME_MAX_SECONDS })),
});

const RotateKeyRequest = closedObject({
  graceSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: ROTATION_GRACE_MAX_SECONDS })),
});

const summaryFields = {
  keyId: Type.String(),
  tenant: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  createdAt: Type.String(),
  expiresAt: Type.Optional(Type.String()),
  revokedAt: Type.Optional(Type.String()),
};
const KeySummary = Type.Object(summaryFields);
/** The one answer that holds the key itself. */
const NewKey = Type.Object({ ...summaryFields, key: Type.String() });

const KeyParams = Type.Object({ keyId: Type.String({ minLength: 1, maxLength: 128 }) });
const TenantQuery = closedObject({ tenant: Type.Optional(Tenant) });

const LIST = {
  summary: 'List keys, without their secrets',
  querystring: TenantQuery,
  response: { 200: Type.Object({ keys: Type.Array(KeySummary) }) },
};
const CREATE = {
  summary: 'Make a key; it is shown once',
  body: CreateKeyRequest,
  response: { 201: NewKey },
};
const ROTATE = {
  summary: 'Make a new key in place of an old one, which works on for the grace time',
  params: KeyParams,
  querystring: TenantQuery,
  body: RotateKeyRequest,
  response: { 201: NewKey },
};
const REVOKE = {
  summary: 'Revoke a key at once',
  params: KeyParams,
  querystring: TenantQuery,
  response: { 200: KeySummary },
};

export function keyRoutes(app: Api, options: KeyServiceOptions, idempotency: Idempotency): void {
  const service = new KeyService(options);

  app.get(KEYS_URL, { schema: LIST }, async (request, reply) => {
    const keys = await service.list(callerOf(request), request.query.tenant);
    return readPayload(request, reply, JSON.stringify({ keys }));
  });

  app.post(KEYS_URL, { schema: CREATE }, (request, reply) =>
    idempotency.answer(request, reply, `POST ${KEYS_URL}`, async (record) =>
      service.create(callerOf(request), request.body, record),
    ),
  );

  app.post(`${KEYS_URL}/:keyId/rotate`, { schema: ROTATE }, (request, reply) => {
    const { keyId } = request.params;
    const address = { caller: callerOf(request), tenant: request.query.tenant, keyId };
    const { graceSeconds = ROTATION_GRACE_SECONDS } = request.body;
    return idempotency.answer(request, reply, `POST ${KEYS_URL}/${keyId}/rotate`, (record) =>
      service.rotate(address, graceSeconds, record),
    );
  });

  app.delete(`${KEYS_URL}/:keyId`, { schema: REVOKE }, (request, reply) => {
    const { keyId } = request.params;
    const address = { caller: callerOf(request), tenant: request.query.tenant, keyId };
    return idempotency.answer(request, reply, `DELETE ${KEYS_URL}/${keyId}`, (record) =>
      service.revoke(address, record),
    );
  });
}
