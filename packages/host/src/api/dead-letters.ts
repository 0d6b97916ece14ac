import { type Api, callerOf, type Idempotency, readPayload } from '@gantry/http';
import { DeadLetter, DeadLetterRetry } from '@gantry/protocol';
import Type from 'typebox';
import type { DeadLetterAddress, DeadLetterDesk } from '../dead-letters/dead-letter-desk.ts';
import { recordWrites } from './trigger-subscriptions.ts';

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

export interface DeadLetterRouteDeps {
  readonly desk: DeadLetterDesk;
  readonly idempotency: Idempotency;
  readonly now: () => number;
}

export function deadLetterRoutes(app: Api, { desk, idempotency, now }: DeadLetterRouteDeps): void {
  const addressOf = (request: { params: { deadLetterId: string } }): DeadLetterAddress => ({
    tenant: callerOf(request).tenant,
    deadLetterId: request.params.deadLetterId,
  });

  app.get(URL, { schema: LIST }, async (request, reply) => {
    const { before, limit = LISTED } = request.query;
    const listed = await desk.list(callerOf(request).tenant, limit + 1, before);
    const deadLetters = listed.slice(0, limit);
    const next = listed.length > limit ? { nextBefore: deadLetters.at(-1)!.deadLetterId } : {};
    return readPayload(request, reply, JSON.stringify({ deadLetters, ...next }));
  });

  app.delete(ONE, { schema: ACKNOWLEDGE }, (request, reply) => {
    const address = addressOf(request);
    return idempotency.answer(request, reply, `DELETE ${URL}/${address.deadLetterId}`, async (record) => {
      const writes = recordWrites(now, record);
      const done = await desk.acknowledge(address, () => writes(204, ''));
      return done === 'duplicate' ? done : { status: 204, body: '', recorded: true };
    });
  });

  app.post(`${ONE}::retry`, { schema: RETRY }, (request, reply) => {
    const address = addressOf(request);
    return idempotency.answer(request, reply, `POST ${URL}/${address.deadLetterId}:retry`, async (record) => {
      const writes = recordWrites(now, record);
      const answer = await desk.retry(address, (view) => writes(202, JSON.stringify(view)));
      if (answer === 'duplicate') return answer;
      return { status: 202, body: JSON.stringify(answer), recorded: true };
    });
  });
}
