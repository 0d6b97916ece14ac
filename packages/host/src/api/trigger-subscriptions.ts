import {
  type Answer,
  type Api,
  callerOf,
  type Idempotency,
  type RecordAnswer,
  readPayload,
} from '@gantry/http';
import {
  QueueSubscriptionCreated,
  TriggerBinding,
  TriggerDelivery,
  TriggerPurpose,
  TriggerStateChange,
  TriggerSubscription,
  TriggerSubscriptionCreated,
  TriggerSubscriptionRegistration,
} from '@gantry/protocol';
import type { Write } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { TriggerKey } from '../triggers/subscription.ts';
import type { Registered, TriggerDesk } from '../triggers/trigger-desk.ts';

const URL = '/v1/trigger-subscriptions';
const ONE = `${URL}/:subscriptionId`;
/** An id has no colon: what follows one is a verb. */
const HOST_URL = '/v1/host/gantry/trigger-subscriptions';
const HOST_ONE = `${HOST_URL}/:subscriptionId(^[^:/]+)`;
const LISTED = 50;
const LISTED_MAX = 200;

const closed = { additionalProperties: false } as const;
const Id = Type.String({ minLength: 1, maxLength: 128 });
const Params = Type.Object({ subscriptionId: Id });
const DeliveryQuery = Type.Object(
  {
    cursor: Type.Optional(Id),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LISTED_MAX })),
  },
  closed,
);

const REGISTER = {
  summary: 'Start runs from outside events; the secret that signs them is shown once',
  body: TriggerSubscriptionRegistration,
  response: { 201: Type.Union([TriggerSubscriptionCreated, QueueSubscriptionCreated]) },
};
const LIST = {
  summary: 'List trigger subscriptions, without their secrets',
  response: { 200: Type.Object({ subscriptions: Type.Array(TriggerSubscription) }) },
};
const DESCRIBE = {
  summary: 'List trigger subscriptions with what they start and what they listen to',
  response: {
    200: Type.Object({
      subscriptions: Type.Array(
        Type.Object({ ...TriggerSubscription.properties, ...TriggerPurpose.properties }),
      ),
    }),
  },
};
const READ = {
  summary: 'Read a trigger subscription',
  params: Params,
  response: { 200: TriggerSubscription },
};
const REMOVE = {
  summary: 'End a trigger subscription; what still waits for it becomes a dead letter',
  params: Params,
  response: { 204: Type.Null() },
};
const verb = (summary: string, answer: Type.TSchema = TriggerSubscription) => ({
  summary,
  params: Params,
  body: Type.Object({}, closed),
  response: { 200: answer },
});
const DELIVERIES = {
  summary: 'What became of the events of a subscription, newest first',
  params: Params,
  querystring: DeliveryQuery,
  response: {
    200: Type.Object({
      ...TriggerPurpose.properties,
      deliveries: Type.Array(TriggerDelivery),
      stateChanges: Type.Array(TriggerStateChange),
      nextCursor: Type.Optional(Type.String()),
      /** Of a queue: why no messages arrive for now. */
      problem: Type.Optional(Type.String()),
    }),
  },
};

/** A repeat must neither make another secret nor find the first one at rest. */
const SHOWN_ONCE = JSON.stringify({
  error: 'conflict',
  message: 'This request already made a secret, which was shown once. Rotate it to get a new one.',
  details: { retriable: false },
});

export interface TriggerRouteDeps {
  readonly desk: TriggerDesk;
  readonly idempotency: Idempotency;
  readonly now: () => number;
}

const done = (status: number, body: string): Answer => ({ status, body, recorded: true });
const originOf = (request: FastifyRequest): string => `${request.protocol}://${request.host}`;

/** The record of an answer as what is written with its effect. */
export const recordWrites =
  (now: () => number, record: RecordAnswer | undefined) =>
  (status: number, body: string): readonly Write[] =>
    record ? [{ kind: 'idempotency', record: record(status, body), now: now() }] : [];

const keyOf = (request: { params: { subscriptionId: string } }): TriggerKey => ({
  tenant: callerOf(request).tenant,
  subscriptionId: request.params.subscriptionId,
});

export function triggerSubscriptionRoutes(app: Api, deps: TriggerRouteDeps): void {
  resourceRoutes(app, deps);
  verbRoutes(app, deps);
  app.get(HOST_URL, { schema: DESCRIBE }, async (request, reply) => {
    const subscriptions = await deps.desk.describe(callerOf(request).tenant);
    return readPayload(request, reply, JSON.stringify({ subscriptions }));
  });
  app.get(`${HOST_ONE}/deliveries`, { schema: DELIVERIES }, async (request, reply) => {
    const { limit = LISTED, cursor } = request.query;
    const { stateChanges, ...page } = await deps.desk.deliveries(keyOf(request), limit, cursor);
    const changes = stateChanges.map((change) => ({ ...change, at: new Date(change.at).toISOString() }));
    return readPayload(request, reply, JSON.stringify({ ...page, stateChanges: changes }));
  });
}

function resourceRoutes(app: Api, { desk, idempotency, now }: TriggerRouteDeps): void {
  app.post(URL, { schema: REGISTER }, (request, reply) =>
    idempotency.answer(request, reply, `POST ${URL}`, async (record) => {
      const writes = recordWrites(now, record);
      const recorded = (made: Registered) =>
        'secret' in made.binding ? writes(409, SHOWN_ONCE) : writes(201, JSON.stringify(made));
      const made = await desk.register(callerOf(request), request.body, originOf(request), recorded);
      return made === 'duplicate' ? made : done(201, JSON.stringify(made));
    }),
  );

  app.get(URL, { schema: LIST }, async (request, reply) => {
    const subscriptions = await desk.list(callerOf(request).tenant);
    return readPayload(request, reply, JSON.stringify({ subscriptions }));
  });

  app.get(ONE, { schema: READ }, async (request, reply) =>
    readPayload(request, reply, JSON.stringify(await desk.read(keyOf(request)))),
  );

  app.delete(ONE, { schema: REMOVE }, (request, reply) => {
    const key = keyOf(request);
    return idempotency.answer(request, reply, `DELETE ${URL}/${key.subscriptionId}`, async (record) => {
      const writes = recordWrites(now, record);
      const removed = await desk.remove(key, () => writes(204, ''));
      return removed === 'duplicate' ? removed : done(204, '');
    });
  });
}

function verbRoutes(app: Api, { desk, idempotency, now }: TriggerRouteDeps): void {
  for (const name of ['pause', 'resume'] as const) {
    const summary = name === 'pause' ? 'Take no more events' : 'Take events again, also after a failure';
    app.post(`${HOST_ONE}::${name}`, { schema: verb(summary) }, (request, reply) => {
      const key = keyOf(request);
      const operation = `POST ${HOST_URL}/${key.subscriptionId}:${name}`;
      return idempotency.answer(request, reply, operation, async (record) => {
        const writes = recordWrites(now, record);
        const answer = await desk[name](key, (view) => writes(200, JSON.stringify(view)));
        return answer === 'duplicate' ? answer : done(200, JSON.stringify(answer));
      });
    });
  }

  const ROTATE = verb('Replace the secret; the new one is shown once', TriggerBinding);
  app.post(`${HOST_ONE}::rotate-secret`, { schema: ROTATE }, (request, reply) => {
    const key = keyOf(request);
    const operation = `POST ${HOST_URL}/${key.subscriptionId}:rotate-secret`;
    return idempotency.answer(request, reply, operation, async (record) => {
      const writes = recordWrites(now, record);
      const answer = await desk.rotateSecret(key, originOf(request), () => writes(409, SHOWN_ONCE));
      return answer === 'duplicate' ? answer : done(200, JSON.stringify(answer));
    });
  });
}
