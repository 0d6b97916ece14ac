/** `GET /v1/host/gantry/heartbeats/{heartbeatId}/events`: a stream of the events of a heartbeat. */
import { type Api, callerOf, type HeldKeys } from '@gantry/http';
import { limiter } from '@gantry/limiter';
import { closedObject } from '@gantry/protocol';
import Type from 'typebox';
import { heartbeatEventJson } from '../heartbeats/event-log.ts';
import type { ApiDeps } from './context.ts';
import { personOf } from './resource-route.ts';
import { checkRoom, lastSequence, openStream } from './sse.ts';
import type { Projection } from './sse-frames.ts';
import { EventStream } from './sse-stream.ts';
import type { Streams } from './sse-streams.ts';
import { directWriter } from './sse-writer.ts';

const PAGES_MAX = 16;

const SCHEMA = {
  summary: 'Stream the events of a heartbeat (Server-Sent Events), from the oldest that is kept',
  params: Type.Object({ heartbeatId: Type.String({ minLength: 1, maxLength: 128 }) }),
  querystring: closedObject({ lastEventId: Type.Optional(Type.String()) }),
};

const projection =
  (heartbeatId: string): Projection =>
  (events) =>
    events.map((event) => {
      const data = heartbeatEventJson(heartbeatId, event);
      return { sequence: event.sequence, event: event.type, data, element: data };
    });

export function heartbeatEventsRoute(app: Api, deps: ApiDeps, streams: Streams, held: HeldKeys): void {
  const { service, log } = deps.services.heartbeats;
  const pages = limiter({ max: PAGES_MAX, perTenantMax: PAGES_MAX / 2 });

  app.get(
    '/v1/host/gantry/heartbeats/:heartbeatId/events',
    { schema: SCHEMA },
    async (request, reply): Promise<void> => {
      const id = request.params.heartbeatId;
      const key = { tenant: callerOf(request).tenant, runId: id };
      const cursor = lastSequence(request, request.query) + 1;
      await service.get(personOf(request), id);
      checkRoom(streams, deps.info.limits.sseSubscribersMax);
      const { raw, socket } = openStream(reply);
      const stream = new EventStream({
        key,
        runs: log,
        response: raw,
        socket,
        writer: directWriter(socket, projection(id), 'heartbeat'),
        pages,
        cursor,
        eventsPerWrite: Number.POSITIVE_INFINITY,
        onClose() {
          letGo();
          unwatch();
          streams.remove(id, stream);
        },
        onError: (error) => deps.log.error({ err: error, heartbeatId: id }, 'an event stream failed'),
      });
      const letGo = held.hold(request, () => stream.end());
      const unwatch = log.whenGone(id, () => stream.end());
      streams.add(log, key, stream);
      stream.catchUp();
    },
  );
}
