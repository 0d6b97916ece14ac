/**
 * A run's events as one unbroken sequence over any number of connections.
 *
 * I1. Each event is yielded once, in order: events up to the cursor are dropped. An event may have frames
 *     made from it with the same sequence (`state.snapshot`, `ai.message.chunk`), one of each type.
 * I2. The end is the run's terminal event; or, for modes and cursors that never see it, a connection that was
 *     opened after the run had ended and delivered nothing new.
 * I3. Only temporary failures are retried, and never more than the policy allows in a row.
 */
import { type RunSnapshot, STREAM_FRAMES, type StreamMode } from '@gantry/protocol';
import { isTerminal } from '@gantry/protocol/run-status';
import { unreachable } from './error.ts';
import { backoffMs, isPassing, type RetryPolicy, sleep } from './retry.ts';
import { createSseParser } from './sse.ts';
import { endsRun, eventsOf, type StreamEvent } from './stream-event.ts';
import type { Transport } from './transport.ts';

export interface EventsOptions {
  /** One mode, or several of `updates`, `messages`, `debug`. Default: `updates`. */
  streamMode?: StreamMode | readonly StreamMode[];
  /** Lets the host buffer events for up to this many milliseconds (0 to 5000). */
  bufferMs?: number;
  /** Sequence of the last event already seen. */
  lastEventId?: number;
  signal?: AbortSignal;
}

export interface EventSource {
  transport: Transport;
  reconnect: RetryPolicy;
  readRun(runId: string, signal?: AbortSignal): Promise<RunSnapshot>;
}

/** Twice the longest keep-alive interval of the protocol: a connection that is silent for longer is dead. */
const SILENCE_MAX_MS = 60_000;

export async function* streamEvents(
  source: EventSource,
  runId: string,
  options: EventsOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal } = options;
  const place = createPlace(options.lastEventId ?? -1);
  let runEnded = false;
  let failures = 0;
  let idleCloses = 0;
  for (;;) {
    let isFresh = false;
    let pauseMs: number | undefined;
    try {
      for await (const event of connection(source.transport, runId, options, place.cursor)) {
        if (!place.passes(event)) continue; // I1
        isFresh = true;
        yield event;
        if (endsRun(event)) return; // I2
      }
      if (runEnded && !isFresh) return; // I2
      runEnded = isTerminal((await source.readRun(runId, signal)).status);
      if (runEnded) continue;
      failures = 0;
      idleCloses = isFresh ? 1 : idleCloses + 1;
    } catch (error) {
      signal?.throwIfAborted();
      failures = isFresh ? 1 : failures + 1;
      if (!isPassing(error) || failures >= source.reconnect.attemptsMax) throw error; // I3
      pauseMs = error.retryAfterMs;
    }
    await sleep(pauseMs ?? backoffMs(source.reconnect, Math.max(failures, idleCloses)), signal);
  }
}

/** The position of the reader in the log. */
function createPlace(start: number) {
  let cursor = start;
  const framesAtCursor = new Set<string>();
  return {
    get cursor() {
      return cursor;
    },
    /** Whether the event is new; marks it as seen. */
    passes({ sequence, type }: StreamEvent): boolean {
      if (sequence < cursor) return false;
      const isFrame = STREAM_FRAMES.some((frame) => frame === type);
      if (sequence === cursor && (!isFrame || framesAtCursor.has(type))) return false;
      if (sequence > cursor) framesAtCursor.clear();
      if (isFrame) framesAtCursor.add(type);
      cursor = sequence;
      return true;
    },
  };
}

async function* connection(
  transport: Transport,
  runId: string,
  options: EventsOptions,
  cursor: number,
): AsyncGenerator<StreamEvent, void, undefined> {
  const closing = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
  const giveUp = () => closing.abort(new Error(`silent for ${SILENCE_MAX_MS / 1000} s`));
  let watchdog = setTimeout(giveUp, SILENCE_MAX_MS);
  try {
    const response = await transport.open({
      method: 'GET',
      path: `/v1/runs/${encodeURIComponent(runId)}/events`,
      query: { streamMode: modesOf(options), bufferMs: options.bufferMs },
      headers: {
        accept: 'text/event-stream',
        ...(cursor >= 0 && { 'last-event-id': String(cursor) }),
      },
      signal,
    });
    const parser = createSseParser();
    for await (const bytes of bytesOf(transport.baseUrl, response)) {
      clearTimeout(watchdog);
      watchdog = setTimeout(giveUp, SILENCE_MAX_MS);
      for (const frame of parser.push(bytes)) yield* eventsOf(runId, frame);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    throw closing.signal.aborted ? unreachable(transport.baseUrl, closing.signal.reason) : error;
  } finally {
    clearTimeout(watchdog);
    closing.abort();
  }
}

function modesOf({ streamMode }: EventsOptions): string | undefined {
  return typeof streamMode === 'object' ? streamMode.join(',') : streamMode;
}

async function* bytesOf(baseUrl: string, response: Response): AsyncGenerator<Uint8Array, void, undefined> {
  if (!response.body) return;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw unreachable(baseUrl, error);
    });
    if (done) return;
    yield value;
  }
}
