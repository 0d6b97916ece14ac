import { type Answer, type Api, type Caller, callerOf, type Idempotency, readPayload } from '@gantry/http';
import {
  DeliveryState,
  OpenwopError,
  RegisterWebhookRequest,
  RegisterWebhookResponse,
  RotatedWebhookSecret,
  RotateWebhookSecretRequest,
  WebhookDelivery,
  WebhookSubscription,
} from '@gantry/protocol';
import Type from 'typebox';
import type { WebhookKey } from '../webhooks/subscription.ts';
import type { WebhookDesk } from '../webhooks/webhook-desk.ts';

const WEBHOOKS_URL = '/v1/webhooks';
const HOST_URL = '/v1/host/gantry/webhooks';
const DELIVERIES_URL = `${HOST_URL}/:webhookId/deliveries`;
/** An id has no colon: what follows one is a verb. */
const HOST_ONE = `${HOST_URL}/:webhookId(^[^:/]+)`;
const OVERLAP_SECONDS = 86_400;
const DELIVERIES_LISTED_MAX = 200;
const DELIVERIES_LISTED = 50;

const closed = { additionalProperties: false } as const;
const Id = Type.String({ minLength: 1, maxLength: 128 });
const WebhookParams = Type.Object({ webhookId: Id });
const DeliveryParams = Type.Object({ webhookId: Id, deliveryId: Id });
const TenantQuery = Type.Object({ tenantId: Type.Optional(Id) }, closed);
const DeliveryQuery = Type.Object(
  {
    state: Type.Optional(DeliveryState),
    cursor: Type.Optional(Id),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: DELIVERIES_LISTED_MAX })),
  },
  closed,
);

const REGISTER = {
  summary: 'Subscribe a URL to events; the secret that signs them is shown once',
  body: RegisterWebhookRequest,
  response: { 201: RegisterWebhookResponse },
};
const UNREGISTER = {
  summary: 'End a subscription; what still waits for it is not sent',
  params: WebhookParams,
  querystring: TenantQuery,
  response: { 204: Type.Null() },
};
const LIST = {
  summary: 'List subscriptions, without their secrets',
  response: { 200: Type.Object({ webhooks: Type.Array(WebhookSubscription) }) },
};
const READ = {
  summary: 'Read a subscription and how its receiver is doing',
  params: WebhookParams,
  response: { 200: WebhookSubscription },
};
const DELIVERIES = {
  summary: 'List deliveries of a subscription, those of the newest run first',
  params: WebhookParams,
  querystring: DeliveryQuery,
  response: {
    200: Type.Object({ deliveries: Type.Array(WebhookDelivery), nextCursor: Type.Optional(Type.String()) }),
  },
};
const RESEND = {
  summary: 'Send the event of a delivery again, as a new delivery',
  params: DeliveryParams,
  response: { 202: WebhookDelivery },
};

const RESUME = {
  summary: 'Send events again after a failure, with the circuit closed',
  params: WebhookParams,
  response: { 200: WebhookSubscription },
};
const ROTATE = {
  summary: 'Replace the secret, shown once; the old one signs too for a while',
  params: WebhookParams,
  body: RotateWebhookSecretRequest,
  response: { 200: RotatedWebhookSecret },
};

/** A repeat must neither register twice nor find the first secret at rest. */
const SHOWN_ONCE = JSON.stringify({
  error: 'conflict',
  message:
    'This request already made a subscription, whose secret was shown once. Delete it and register again to get a new one.',
  details: { retriable: false },
});

const ROTATED_ONCE = JSON.stringify({
  error: 'conflict',
  message: 'This request already made a secret, which was shown once. Rotate it again to get a new one.',
  details: { retriable: false },
});

/** Nobody names a tenant but their own. */
function ownTenant({ tenant }: Caller, named: string | undefined): string {
  if (named === undefined || named === tenant) return tenant;
  throw new OpenwopError('forbidden', {
    message:
      'This key does not belong to the tenant in `tenantId`. Leave it out, or use a key of that tenant.',
  });
}

const done = (status: number, body: string): Answer => ({ status, body, recorded: true });

export function webhookRoutes(app: Api, desk: WebhookDesk, idempotency: Idempotency): void {
  subscriptionRoutes(app, desk, idempotency);
  verbRoutes(app, desk, idempotency);
  deliveryRoutes(app, desk, idempotency);
}

const keyOf = (request: { params: { webhookId: string } }): WebhookKey => ({
  tenant: callerOf(request).tenant,
  webhookId: request.params.webhookId,
});

function verbRoutes(app: Api, desk: WebhookDesk, idempotency: Idempotency): void {
  app.post(`${HOST_ONE}::resume`, { schema: RESUME }, (request, reply) => {
    const key = keyOf(request);
    const operation = `POST ${HOST_URL}/${key.webhookId}:resume`;
    return idempotency.answer(request, reply, operation, async (record) => {
      const made = await desk.resume(key, record && ((answer) => record(200, JSON.stringify(answer))));
      return made === 'duplicate' ? made : done(200, JSON.stringify(made));
    });
  });

  app.post(`${HOST_ONE}::rotate-secret`, { schema: ROTATE }, (request, reply) => {
    const key = keyOf(request);
    const operation = `POST ${HOST_URL}/${key.webhookId}:rotate-secret`;
    return idempotency.answer(request, reply, operation, async (record) => {
      const overlapMs = (request.body.overlapSeconds ?? OVERLAP_SECONDS) * 1_000;
      const made = await desk.rotateSecret(key, overlapMs, record && (() => record(409, ROTATED_ONCE)));
      return made === 'duplicate' ? made : done(200, JSON.stringify(made));
    });
  });
}

function subscriptionRoutes(app: Api, desk: WebhookDesk, idempotency: Idempotency): void {
  app.post(WEBHOOKS_URL, { schema: REGISTER }, (request, reply) =>
    idempotency.answer(request, reply, `POST ${WEBHOOKS_URL}`, async (record) => {
      const tenant = ownTenant(callerOf(request), request.body.tenantId);
      const made = await desk.register(tenant, request.body, record && (() => record(409, SHOWN_ONCE)));
      return made === 'duplicate' ? made : done(201, JSON.stringify(made));
    }),
  );

  app.delete(`${WEBHOOKS_URL}/:webhookId`, { schema: UNREGISTER }, (request, reply) => {
    const key = keyOf(request);
    return idempotency.answer(request, reply, `DELETE ${WEBHOOKS_URL}/${key.webhookId}`, async (record) => {
      ownTenant(callerOf(request), request.query.tenantId);
      const removed = await desk.remove(key, record && (() => record(204, '')));
      return removed === 'duplicate' ? removed : done(204, '');
    });
  });

  app.get(WEBHOOKS_URL, { schema: LIST }, async (request, reply) => {
    const webhooks = await desk.list(callerOf(request).tenant);
    return readPayload(request, reply, JSON.stringify({ webhooks }));
  });

  app.get(`${WEBHOOKS_URL}/:webhookId`, { schema: READ }, async (request, reply) =>
    readPayload(request, reply, JSON.stringify(await desk.read(keyOf(request)))),
  );
}

function deliveryRoutes(app: Api, desk: WebhookDesk, idempotency: Idempotency): void {
  app.get(DELIVERIES_URL, { schema: DELIVERIES }, async (request, reply) => {
    const { limit = DELIVERIES_LISTED, ...filter } = request.query;
    const page = await desk.deliveries(keyOf(request), { ...filter, limit });
    return readPayload(request, reply, JSON.stringify(page));
  });

  app.post(`${DELIVERIES_URL}/:deliveryId(^[^:/]+)::resend`, { schema: RESEND }, (request, reply) => {
    const key = keyOf(request);
    const { deliveryId } = request.params;
    const operation = `POST ${DELIVERIES_URL.replace(':webhookId', key.webhookId)}/${deliveryId}:resend`;
    return idempotency.answer(request, reply, operation, async (record) => {
      const made = await desk.resend(
        key,
        deliveryId,
        record && ((answer) => record(202, JSON.stringify(answer))),
      );
      return made === 'duplicate' ? made : done(202, JSON.stringify(made));
    });
  });
}
