import {
  CreateKeyRequest,
  closedObject,
  KeySummary,
  NewKey,
  RotateKeyRequest,
  Tenant,
} from '@gantry/protocol';
import Type from 'typebox';
import { type Api, callerOf } from './context.ts';
import type { Idempotency } from './idempotency.ts';
import { KeyService, type KeyServiceOptions, ROTATION_GRACE_SECONDS } from './key-service.ts';
import { readPayload } from './reply.ts';

const KEYS_URL = '/v1/host/gantry/keys';

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
  summary: 'Replace a key; the old one stays valid for the grace period',
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
