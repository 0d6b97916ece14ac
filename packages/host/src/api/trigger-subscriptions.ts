/** Routes of trigger subscriptions that the protocol defines; the others are generated from the wire. */
import { type Api, type Idempotency, readPayload, warn } from '@gantry/http';
import {
  TRIGGER_LIMITS,
  TriggerPurpose,
  TriggerSubscription,
  triggerSubscriptionsWire as wire,
} from '@gantry/protocol';
import Type from 'typebox';
import type { TriggerService } from '../triggers/trigger-service.ts';
import type { ApiDeps } from './context.ts';
import { IfMatch, matchingOf, personOf } from './resource-route.ts';
import { changed } from './resources.ts';
import { unknownPaths } from './unknown-names.ts';

const URL = '/v1/trigger-subscriptions';
/** Ids contain no colon: a verb follows it. */
const HOST_URL = '/v1/host/gantry/trigger-subscriptions';
const HOST_ONE = `${HOST_URL}/:subscriptionId(^[^:/]+)`;

const Params = Type.Object({ subscriptionId: Type.String({ minLength: 1, maxLength: 128 }) });

const REGISTER = { summary: wire.about, body: wire.input, response: { 201: wire.created } };
const Described = Type.Object({ ...TriggerSubscription.properties, ...TriggerPurpose.properties });
const DESCRIBE = {
  summary: 'List trigger subscriptions with what they start and what they listen to',
  response: { 200: Type.Object({ subscriptions: Type.Array(Described) }) },
};
const REMOVE = {
  summary: 'End a trigger subscription; what still waits for it becomes a dead letter',
  params: Params,
  headers: IfMatch,
  response: { 204: Type.Null() },
};
const { about, in: body, out } = wire.methods['rotate-secret'];
const ROTATE = { summary: about, params: Params, headers: IfMatch, body, response: { 200: out } };

export function triggerSubscriptionRoutes(
  app: Api,
  service: TriggerService,
  originOf: ApiDeps['originOf'],
  idempotency: Idempotency,
): void {
  app.post(URL, { schema: REGISTER }, (request, reply) => {
    warn(reply, unknownPaths(request.body));
    return changed(request, reply.code(201), idempotency, (caller) =>
      service.register(caller, request.body, originOf(request)),
    );
  });

  app.get(HOST_URL, { schema: DESCRIBE }, async (request, reply) => {
    const subscriptions = await service.describe(
      personOf(request),
      TRIGGER_LIMITS.perTenantMax,
      originOf(request),
    );
    return readPayload(request, reply, JSON.stringify({ subscriptions }));
  });

  app.delete(`${URL}/:subscriptionId`, { schema: REMOVE }, async (request, reply) => {
    const { subscriptionId } = request.params;
    const matching = matchingOf(request);
    await changed(request, reply, idempotency, (caller) => service.remove(caller, subscriptionId, matching));
    void reply.code(204);
    return '';
  });

  app.post(`${HOST_ONE}::rotate-secret`, { schema: ROTATE }, (request, reply) => {
    const matching = matchingOf(request);
    return changed(request, reply, idempotency, (caller) =>
      service.rotateSecret(caller, request.params.subscriptionId, originOf(request), matching),
    );
  });
}
