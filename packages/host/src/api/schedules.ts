import { type Api, callerOf, type Idempotency, readPayload } from '@gantry/http';
import {
  CreateScheduleRequest,
  FireTimes,
  PreviewRequest,
  SCHEDULE_LIMITS,
  Schedule,
} from '@gantry/protocol';
import Type from 'typebox';
import type { ScheduleDesk } from '../schedules/schedule-desk.ts';

const URL = '/v1/host/gantry/schedules';
/** An id has no colon: what follows one is a verb. */
const ONE = `${URL}/:scheduleId(^[^:/]+)`;
const TIMES_DEFAULT = 10;
const LIST_DEFAULT = 50;
const LIST_MAX = 200;

const closed = { additionalProperties: false } as const;
const Id = Type.String({ minLength: 1, maxLength: 128 });
const ScheduleParams = Type.Object({ scheduleId: Id });
const ListQuery = Type.Object(
  {
    before: Type.Optional(Id),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })),
  },
  closed,
);
const NextQuery = Type.Object(
  { count: Type.Optional(Type.Integer({ minimum: 1, maximum: SCHEDULE_LIMITS.timesMax })) },
  closed,
);
const ScheduleList = Type.Object({
  schedules: Type.Array(Schedule),
  nextBefore: Type.Optional(Type.String()),
});

const CREATE = {
  summary: 'Start runs of a workflow by the clock',
  body: CreateScheduleRequest,
  response: { 201: Schedule },
};
const LIST = {
  summary: 'List schedules, newest first',
  querystring: ListQuery,
  response: { 200: ScheduleList },
};
const PREVIEW = {
  summary: 'The next fire times of a cron expression',
  body: PreviewRequest,
  response: { 200: FireTimes },
};
const NEXT = {
  summary: 'The next fire times of a schedule',
  params: ScheduleParams,
  querystring: NextQuery,
  response: { 200: FireTimes },
};
const verb = (summary: string) => ({
  summary,
  params: ScheduleParams,
  body: Type.Object({}, closed),
  response: { 200: Schedule },
});

export function scheduleRoutes(app: Api, desk: ScheduleDesk, idempotency: Idempotency): void {
  readRoutes(app, desk);

  app.post(URL, { schema: CREATE }, (request, reply) =>
    idempotency.answer(request, reply, `POST ${URL}`, (record) =>
      desk.create(callerOf(request), request.body, record),
    ),
  );

  app.post(`${ONE}::pause`, { schema: verb('Let a schedule pass over its ticks') }, (request, reply) => {
    const address = { tenant: callerOf(request).tenant, ...request.params };
    return idempotency.answer(request, reply, `POST ${URL}/${address.scheduleId}:pause`, (record) =>
      desk.pause(address, record),
    );
  });

  app.post(`${ONE}::resume`, { schema: verb('Let a paused schedule fire again') }, (request, reply) => {
    const address = { tenant: callerOf(request).tenant, ...request.params };
    return idempotency.answer(request, reply, `POST ${URL}/${address.scheduleId}:resume`, (record) =>
      desk.resume(address, record),
    );
  });

  const REMOVE = { summary: 'Delete a schedule', params: ScheduleParams, response: { 200: Schedule } };
  app.delete(ONE, { schema: REMOVE }, (request, reply) => {
    const address = { tenant: callerOf(request).tenant, ...request.params };
    return idempotency.answer(request, reply, `DELETE ${URL}/${address.scheduleId}`, (record) =>
      desk.remove(address, record),
    );
  });
}

function readRoutes(app: Api, desk: ScheduleDesk): void {
  app.get(URL, { schema: LIST }, async (request, reply) => {
    const { before, limit = LIST_DEFAULT } = request.query;
    const listed = await desk.list(callerOf(request).tenant, limit + 1, before);
    const schedules = listed.slice(0, limit);
    const next = listed.length > limit ? { nextBefore: schedules.at(-1)!.scheduleId } : {};
    return readPayload(request, reply, JSON.stringify({ schedules, ...next }));
  });

  const READ = { summary: 'Read a schedule', params: ScheduleParams, response: { 200: Schedule } };
  app.get(ONE, { schema: READ }, async (request, reply) => {
    const schedule = await desk.get({ tenant: callerOf(request).tenant, ...request.params });
    return readPayload(request, reply, JSON.stringify(schedule));
  });

  app.get(`${ONE}/next`, { schema: NEXT }, async (request, reply) => {
    const address = { tenant: callerOf(request).tenant, ...request.params };
    const times = await desk.next(address, request.query.count ?? TIMES_DEFAULT);
    return readPayload(request, reply, JSON.stringify({ times }));
  });

  // Computes and changes nothing: a repeat needs no record.
  app.post(`${URL}::preview`, { schema: PREVIEW }, async (request, reply) => {
    const { cron, timezone = 'UTC', count = TIMES_DEFAULT } = request.body;
    return readPayload(request, reply, JSON.stringify({ times: desk.preview(cron, timezone, count) }));
  });
}
