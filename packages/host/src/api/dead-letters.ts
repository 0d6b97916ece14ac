import { type Api, callerOf, type Idempotency, JSON_TYPE, readPayload } from '@gantry/http';
import { DeadLetter, DeadLetterRetry } from '@gantry/protocol';
import Type from 'typebox';
import type { DeadLetterService } from '../dead-letters/dead-letter-service.ts';
import { personOf } from './resources.ts';

const URL = '/v1/host/gantry/dead-letters';
/** An id has no colon: what follows one is a verb. */
const ONE = `${URL}/:deadLetterId(^[^:/]+)`;
const LISTED = 50;
const LISTED_MAX = 200;

const closed = { additionalProperties: false } as const;
const Id = Type.String({ minLength: 1, maxLength: 128 });
const Params = Type.Object({ deadLetterId: Id });
const LIST = {
  summary: 'List runs and events that could not be done, newest first',
  querystring: Type.Object(
    {
      before: Type.Optional(Id),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LISTED_MAX })),
    },
    closed,
  ),
  response: {
    200: Type.Object({ deadLetters: Type.Array(DeadLetter), nextBefore: Type.Optional(Type.String()) }),
  },
};
const ACKNOWLEDGE = {
  summary: 'Take a dead letter off the list',
  params: Params,
  response: { 204: Type.Null() },
};
const RETRY = {
  summary: 'Deliver a dead event again, or fork a dead run before the node that failed',
  params: Params,
  body: Type.Object({}, closed),
  response: { 202: DeadLetterRetry },
};

export function deadLetterRoutes(
  app: Api,
  service: DeadLetterService,
  idempotency: Pick<Idempotency, 'once'>,
): void {
  app.get(URL, { schema: LIST }, async (request, reply) => {
    const { before, limit = LISTED } = request.query;
    const listed = await service.list(callerOf(request).tenant, limit + 1, before);
    const deadLetters = listed.slice(0, limit);
    const next = listed.length > limit ? { nextBefore: deadLetters.at(-1)!.deadLetterId } : {};
    return readPayload(request, reply, JSON.stringify({ deadLetters, ...next }));
  });

  app.delete(ONE, { schema: ACKNOWLEDGE }, async (request, reply) => {
    const { deadLetterId } = request.params;
    await idempotency.once(request, reply, (claim) =>
      service.acknowledge(personOf(request, claim), deadLetterId),
    );
    void reply.code(204);
    return '';
  });

  app.post(`${ONE}::retry`, { schema: RETRY }, async (request, reply) => {
    const { deadLetterId } = request.params;
    const answer = await idempotency.once(request, reply, (claim) =>
      service.retry(personOf(request, claim), deadLetterId),
    );
    void reply.code(202).type(JSON_TYPE);
    return JSON.stringify(answer);
  });
}
