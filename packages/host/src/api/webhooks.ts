/** Routes of webhooks that the protocol defines; the others are generated from the wire. */
import { type Api, callerOf, type Idempotency } from '@gantry/http';
import {
  OpenwopError,
  RegisterWebhookRequest,
  RegisterWebhookResponse,
  WebhookDelivery,
  webhooksWire,
} from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { WebhookService } from '../webhooks/webhook-service.ts';
import { LINK_SCOPE } from './interrupt-links.ts';
import { IfMatch, matchingOf } from './resource-route.ts';
import { changed } from './resources.ts';

const URL = '/v1/webhooks';
/** Ids contain no colon: a verb follows it. */
const HOST_ONE = '/v1/host/gantry/webhooks/:webhookId(^[^:/]+)';

const Id = Type.String({ minLength: 1, maxLength: 128 });
const Params = Type.Object({ webhookId: Id });

const REGISTER = {
  summary: webhooksWire.about,
  body: RegisterWebhookRequest,
  response: { 201: RegisterWebhookResponse },
};
const UNREGISTER = {
  summary: 'End a subscription; what still waits for it is not sent',
  params: Params,
  querystring: Type.Object({ tenantId: Type.Optional(Id) }, { additionalProperties: false }),
  headers: IfMatch,
  response: { 204: Type.Null() },
};
const RESEND = {
  summary: 'Send the event of a delivery again, as a new delivery',
  params: Type.Object({ webhookId: Id, deliveryId: Id }),
  response: { 202: WebhookDelivery },
};

/** A key may only name its own tenant. */
function checkTenant(request: unknown, named: string | undefined): void {
  if (named === undefined || named === callerOf(request).tenant) return;
  throw new OpenwopError('forbidden', {
    message:
      'This key does not belong to the tenant in `tenantId`. Leave it out, or use a key of that tenant.',
  });
}

export function webhookRoutes(app: Api, service: WebhookService, idempotency: Idempotency): void {
  // The URL is checked before the rest of the body, as clients expect
  const judgeUrl = async (request: FastifyRequest): Promise<void> => {
    const url: unknown = Object(request.body).url;
    if (typeof url === 'string') await service.checkUrl(callerOf(request).tenant, url);
  };
  app.post(URL, { schema: REGISTER, preValidation: judgeUrl }, async (request, reply) => {
    checkTenant(request, request.body.tenantId);
    const mayLink = callerOf(request).scopes.has(LINK_SCOPE);
    return changed(request, reply.code(201), idempotency, (caller) =>
      service.register(caller, request.body, { mayLink }),
    );
  });

  app.delete(`${URL}/:webhookId`, { schema: UNREGISTER }, async (request, reply) => {
    checkTenant(request, request.query.tenantId);
    const { webhookId } = request.params;
    const matching = matchingOf(request);
    await changed(request, reply, idempotency, (caller) => service.remove(caller, webhookId, matching));
    void reply.code(204);
    return '';
  });

  app.post(`${HOST_ONE}/deliveries/:deliveryId(^[^:/]+)::resend`, { schema: RESEND }, (request, reply) => {
    const { webhookId, deliveryId } = request.params;
    return changed(request, reply.code(202), idempotency, (caller) =>
      service.resend(caller, webhookId, deliveryId),
    );
  });
}
