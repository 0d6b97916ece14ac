import { type Api, callerOf, type Idempotency, readPayload } from '@gantry/http';
import { CreateHeartbeatRequest, Heartbeat, HeartbeatTick } from '@gantry/protocol';
import Type from 'typebox';
import type { HeartbeatDesk } from '../heartbeats/heartbeat-desk.ts';

const URL = '/v1/host/gantry/heartbeats';
const ONE = `${URL}/:heartbeatId`;
const TICKS_DEFAULT = 50;
const TICKS_MAX = 200;

const Id = Type.String({ minLength: 1, maxLength: 128 });
const HeartbeatParams = Type.Object({ heartbeatId: Id });
const TicksQuery = Type.Object(
  {
    before: Type.Optional(Id),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: TICKS_MAX })),
  },
  { additionalProperties: false },
);

const CREATE = {
  summary: 'Watch something by a predicate, and act when it changes',
  body: CreateHeartbeatRequest,
  response: { 201: Heartbeat },
};
const LIST = {
  summary: 'List heartbeats, newest first',
  response: { 200: Type.Object({ heartbeats: Type.Array(Heartbeat) }) },
};
const READ = { summary: 'Read a heartbeat', params: HeartbeatParams, response: { 200: Heartbeat } };
const TICKS = {
  summary: 'The latest ticks of a heartbeat: each evaluation, and the changes among them',
  params: HeartbeatParams,
  querystring: TicksQuery,
  response: {
    200: Type.Object({ ticks: Type.Array(HeartbeatTick), nextBefore: Type.Optional(Type.String()) }),
  },
};
const REMOVE = { summary: 'Delete a heartbeat', params: HeartbeatParams, response: { 200: Heartbeat } };

export function heartbeatRoutes(app: Api, desk: HeartbeatDesk, idempotency: Idempotency): void {
  app.post(URL, { schema: CREATE }, (request, reply) =>
    idempotency.answer(request, reply, `POST ${URL}`, (record) =>
      desk.create(callerOf(request), request.body, record),
    ),
  );

  app.get(URL, { schema: LIST }, async (request, reply) => {
    const heartbeats = await desk.list(callerOf(request).tenant);
    return readPayload(request, reply, JSON.stringify({ heartbeats }));
  });

  app.get(ONE, { schema: READ }, async (request, reply) => {
    const heartbeat = await desk.get({ tenant: callerOf(request).tenant, ...request.params });
    return readPayload(request, reply, JSON.stringify(heartbeat));
  });

  app.get(`${ONE}/ticks`, { schema: TICKS }, async (request, reply) => {
    const { before, limit = TICKS_DEFAULT } = request.query;
    const address = { tenant: callerOf(request).tenant, ...request.params };
    const listed = await desk.ticks(address, limit + 1, before);
    const page = listed.slice(0, limit);
    const next = listed.length > limit ? { nextBefore: page.at(-1)!.id } : {};
    return readPayload(request, reply, JSON.stringify({ ticks: page.map(({ tick }) => tick), ...next }));
  });

  app.delete(ONE, { schema: REMOVE }, (request, reply) => {
    const address = { tenant: callerOf(request).tenant, ...request.params };
    return idempotency.answer(request, reply, `DELETE ${URL}/${address.heartbeatId}`, (record) =>
      desk.remove(address, record),
    );
  });
}
