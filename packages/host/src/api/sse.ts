/** `GET /v1/runs/{runId}/events`: a stream of a run's events, or its log as JSON. */

import { newRun } from '@gantry/engine';
import { type Api, callerOf, type HeldKeys, readPayload } from '@gantry/http';
import { limiter } from '@gantry/limiter';
import {
  closedObject,
  invalid,
  isTerminal,
  OpenwopError,
  PollEventsResponse,
  parseStreamMode,
  type StreamMode,
} from '@gantry/protocol';
import type { RunKey, RunRow } from '@gantry/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { fromStoredFacts } from '../runtime/run-record.ts';
import type { ApiDeps } from './context.ts';
import { EventLimit, pollAnswer, readLog, Sequence } from './events.ts';
import { RUN_URL, RunParams } from './runs.ts';
import { eventProjection, FoldedRuns, type Projection, valuesProjection } from './sse-frames.ts';
import { EventStream } from './sse-stream.ts';
import { createStreams, type Streams } from './sse-streams.ts';
import { bufferedWriter, directWriter } from './sse-writer.ts';
import { type Delta, surfaceDeltas } from './surface-deltas.ts';

/** Slots for pages of logs, or single large events, that are being sent to readers that catch up. */
const PAGES_MAX = 128;
const BUFFER_MAX_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;
const SEQUENCE = /^\d{1,15}$/;

const StreamQuery = closedObject({
  streamMode: Type.Optional(Type.String()),
  bufferMs: Type.Optional(Type.Integer({ minimum: 0, maximum: BUFFER_MAX_MS })),
  lastEventId: Type.Optional(Type.String()),
  /** 1 sends surfaces as deltas. */
  a2uiDelta: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })),
  lastSequence: Sequence,
  fromSequence: Sequence,
  limit: EventLimit,
});

interface Wanted {
  readonly key: RunKey;
  readonly modes: readonly StreamMode[];
  readonly bufferMs: number;
  /** Set for readers that request deltas. */
  readonly delta: Delta | undefined;
  /** The last sequence that the reader has; -1 if none. */
  readonly last: number;
}

/** JSON is sent only if the reader requests JSON or a number of events, and does not request a stream. */
const wantsJson = (accept = '*/*', limit?: number): boolean =>
  (limit !== undefined || accept.includes('application/json')) && !accept.includes('text/event-stream');

export function lastSequence(
  request: FastifyRequest,
  query: { lastEventId?: string; lastSequence?: number; fromSequence?: number },
): number {
  const text = request.headers['last-event-id'] ?? query.lastEventId;
  if (text === undefined || text === '') return query.lastSequence ?? (query.fromSequence ?? 0) - 1;
  if (typeof text === 'string' && SEQUENCE.test(text)) return Number(text);
  throw invalid('Last-Event-ID must be the id of an event of this stream: its sequence.', {
    key: 'Last-Event-ID',
  });
}

export function checkRoom({ size }: Streams, limit: number): void {
  if (size < limit) return;
  throw new OpenwopError('rate_limited', {
    message: `This host serves at most ${limit} event streams at once. Poll instead, or try again later.`,
    details: {
      retryAfter: RETRY_AFTER_SECONDS,
      retryAfterMs: RETRY_AFTER_SECONDS * 1000,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      scope: 'global',
      limit,
    },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}

/** Sends the head of a response that ends with the connection: without chunked encoding a frame is one write. */
export function openStream(reply: FastifyReply) {
  const { raw } = reply;
  const { socket } = raw;
  if (socket === null) {
    throw invalid('A stream needs a connection of its own.');
  }
  reply.hijack();
  raw.removeHeader('transfer-encoding');
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    connection: 'close',
    'x-accel-buffering': 'no',
  });
  raw.flushHeaders();
  return { raw, socket };
}

/** `values` needs the run from its first event, whichever events the reader has. */
async function projection(
  workflows: ApiDeps['workflows'],
  folded: FoldedRuns,
  { key, modes, delta, last }: Wanted,
  row: RunRow,
): Promise<[Projection, cursor: number]> {
  if (!modes.includes('values')) {
    const project = eventProjection(key.runId, modes);
    return [delta ? (events) => project(events.map(delta)) : project, last + 1];
  }
  const plan = await workflows.planOf(row.workflowHash);
  const begun = folded.begun(row.runId, () => newRun(fromStoredFacts(row)));
  return [valuesProjection(plan, begun, last, folded), 0];
}

export function eventsRoute(app: Api, deps: ApiDeps, held: HeldKeys): Streams {
  const { runtime, workflows, store, log } = deps;
  const { sseSubscribersMax } = deps.info.limits;
  const streams = createStreams();
  const folded = new FoldedRuns();
  const pages = limiter({ max: PAGES_MAX, perTenantMax: PAGES_MAX / 2 });

  async function stream(reply: FastifyReply, wanted: Wanted): Promise<void> {
    const { key, modes, bufferMs, delta, last } = wanted;
    const row = await store.runs.row(key.tenant, key.runId);
    if (row === null) throw new OpenwopError('not_found');
    const [project, cursor] = await projection(workflows, folded, wanted, row);
    checkRoom(streams, sseSubscribersMax);
    const { raw, socket } = openStream(reply);
    if (isTerminal(row.status) && last >= row.nextSeq - 1) return void raw.end();
    const isSnapshots = modes.includes('values');
    const shareAs = isSnapshots || delta ? null : modes.join(',');
    const writer =
      bufferMs > 0 ? bufferedWriter(socket, project, bufferMs) : directWriter(socket, project, shareAs);
    const opened = new EventStream({
      key,
      runs: store.runs,
      response: raw,
      socket,
      writer,
      pages,
      cursor,
      eventsPerWrite: isSnapshots ? 1 : Number.POSITIVE_INFINITY,
      onClose() {
        letGo();
        streams.remove(key.runId, opened);
      },
      onError: (error) => log.error({ err: error, runId: key.runId }, 'an event stream failed'),
    });
    const letGo = held.hold(reply.request, () => opened.end());
    // Subscribe before reading the log, so that a commit in between is not missed.
    streams.add(runtime, key, opened);
    opened.catchUp();
  }

  app.get(
    `${RUN_URL}/events`,
    {
      schema: {
        summary: 'Stream the events of a run (Server-Sent Events), or read them as JSON',
        params: RunParams,
        querystring: StreamQuery,
        response: { 200: PollEventsResponse },
      },
    },
    async (request, reply) => {
      const { query } = request;
      const wanted: Wanted = {
        key: { tenant: callerOf(request).tenant, runId: request.params.runId },
        modes: parseStreamMode(query.streamMode),
        bufferMs: query.bufferMs ?? 0,
        delta: query.a2uiDelta === 1 ? surfaceDeltas(request.params.runId) : undefined,
        last: lastSequence(request, query),
      };
      if (!wantsJson(request.headers.accept, query.limit)) return stream(reply, wanted);
      const part = await readLog(store, wanted.key, wanted.last + 1);
      if (part === null) throw new OpenwopError('not_found');
      const events = part.events.slice(0, query.limit);
      const page = { ...part, events: wanted.delta ? events.map(wanted.delta) : events };
      return readPayload(request, reply, pollAnswer(page, wanted.last));
    },
  );
  return streams;
}
