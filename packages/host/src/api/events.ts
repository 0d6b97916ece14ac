/** Reads the log of a run, immediately or as a long poll. */
import { type Api, callerOf, type HeldKeys, readPayload } from '@gantry/http';
import {
  closedObject,
  eventDocJson,
  isTerminal,
  isTerminalEvent,
  PollEventsResponse,
  type StoredEvent,
} from '@gantry/protocol';
import type { RunKey, RunRow } from '@gantry/store';
import Type from 'typebox';
import type { Runtime } from '../runtime/runtime.ts';
import type { ApiDeps } from './context.ts';
import { missingRun } from './missing-run.ts';
import { RUN_URL, RunParams } from './runs.ts';

const WAIT_DEFAULT_SECONDS = 30;
const WAIT_MAX_SECONDS = 60;
/** An answer has at most this many bytes, or one event; the next poll returns the rest. */
const ANSWER_BYTES_MAX = 8_000_000;
/** Upper bound for the bytes of an event besides its payload. */
const EVENT_BYTES = 512;
const PAGE = 500;

export const Sequence = Type.Optional(Type.Integer({ minimum: 0 }));
export const EventLimit = Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 }));
const PollQuery = closedObject({
  lastSequence: Sequence,
  since: Sequence,
  /** Parameters of other clients: the first event, and the number of events. */
  fromSequence: Sequence,
  limit: EventLimit,
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: WAIT_MAX_SECONDS })),
});

/** Part of a log that fits one answer. `row` is read first, so no event is newer than its status. */
export interface LogPart {
  readonly row: RunRow;
  readonly events: readonly StoredEvent[];
}

/** All events from `fromSequence` that the row counts, up to `bytesMax`. Null when there is no such run. */
export async function readLog(
  { runs }: ApiDeps['store'],
  { tenant, runId }: RunKey,
  fromSequence: number,
  bytesMax = ANSWER_BYTES_MAX,
): Promise<LogPart | null> {
  const row = await runs.row(tenant, runId);
  if (row === null) return null;
  const events: StoredEvent[] = [];
  let bytes = 0;
  for (let from = fromSequence; from < row.nextSeq && bytes < bytesMax; ) {
    const page = await runs.events(tenant, runId, from, Math.min(PAGE, row.nextSeq - from), bytesMax - bytes);
    if (page.length === 0) break;
    for (const event of page) {
      bytes += Buffer.byteLength(event.payload) + EVENT_BYTES;
      if (bytes > bytesMax && events.length > 0) return { row, events };
      events.push(event);
    }
    from += page.length;
  }
  return { row, events };
}

/** One answer with both documented shapes. A run counts as ended only once the reader has all of its events. */
export function pollAnswer({ row, events }: LogPart, lastSequence: number): string {
  const lastEventSeq = events.at(-1)?.sequence ?? lastSequence;
  const ended = isTerminal(row.status) && lastEventSeq >= row.nextSeq - 1;
  const docs = events.map((event) => eventDocJson(row.runId, event)).join(',');
  return (
    `{"runId":"${row.runId}","events":[${docs}],"lastEventSeq":${lastEventSeq}` +
    `,"runStatus":"${row.status}","isTerminal":${ended},"isComplete":${ended}}`
  );
}

/** A reader that waits for events after the last one it has. */
interface Wait {
  readonly moved: Promise<void>;
  readonly giveUp: () => void;
  stop(): void;
}

/** All waiting readers, so that closing the server can end their polls. */
export interface Waiting {
  /** `moved` resolves at a commit past `last`, at the run's end, after `ms`, or when the server closes. */
  start(key: RunKey, last: number, ms: number): Wait;
  close(): void;
}

export function createWaiting(runtime: Pick<Runtime, 'subscribe'>): Waiting {
  const waiters = new Set<() => void>();
  return {
    start(key, last, ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      const unsubscribe = runtime.subscribe(key, (events) => {
        const newest = events.at(-1);
        if (newest && (newest.sequence > last || isTerminalEvent(newest.type))) resolve();
      });
      waiters.add(resolve);
      const stop = (): void => {
        clearTimeout(timer);
        unsubscribe();
        waiters.delete(resolve);
      };
      return { moved: promise, stop, giveUp: resolve };
    },
    close() {
      for (const resolve of waiters) resolve();
    },
  };
}

export function pollRoute(app: Api, deps: ApiDeps, waiting: Waiting, held: HeldKeys): void {
  app.get(
    `${RUN_URL}/events/poll`,
    {
      schema: {
        summary: 'Read events after a sequence, waiting for the first',
        params: RunParams,
        querystring: PollQuery,
        response: { 200: PollEventsResponse },
      },
    },
    async (request, reply) => {
      const key = { tenant: callerOf(request).tenant, runId: request.params.runId };
      const { lastSequence, since, fromSequence = 0, limit, timeout = WAIT_DEFAULT_SECONDS } = request.query;
      const last = lastSequence ?? since ?? fromSequence - 1;
      // Subscribe before the first read, so that a commit in between is not missed.
      const wait = waiting.start(key, last, timeout * 1000);
      reply.raw.once('close', wait.giveUp);
      try {
        let part = await readLog(deps.store, key, last + 1);
        if (part !== null && part.events.length === 0 && !isTerminal(part.row.status)) {
          const keyEnds = Promise.withResolvers<never>();
          const letGo = held.hold(request, keyEnds.reject);
          await Promise.race([wait.moved, keyEnds.promise]).finally(letGo);
          part = await readLog(deps.store, key, last + 1);
        }
        if (part === null) throw missingRun(deps, key.runId);
        const { row, events } = part;
        return await readPayload(request, reply, pollAnswer({ row, events: events.slice(0, limit) }, last));
      } finally {
        wait.stop();
      }
    },
  );
}
