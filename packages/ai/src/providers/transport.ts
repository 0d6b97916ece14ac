/**
 * The fetch for the library of a family. It maps failures before the library sees them, so that none of its error
 * objects contains one, and fails answers that time out.
 */
import { ModelFailure, type Reach } from '../model.ts';
import { AnswerEvents, type WireEnd } from './answer-events.ts';
import { failureOfResponse, failureOfTransport } from './failure.ts';

/** For libraries that require a key; egress replaces it with the real one. */
export const KEY_PLACEHOLDER = 'set-by-egress';
const SILENCE_MS = 60_000;

export interface Transport {
  readonly fetch: typeof fetch;
  /** The failure on the wire, whatever the library made of it. */
  readonly failed: () => ModelFailure | undefined;
  readonly isSent: () => boolean;
}

/** With `end`, the answer is a stream of events. */
export function transportOf(
  { fetch, signal, silenceMs = SILENCE_MS, idempotencyKey }: Reach,
  end?: WireEnd,
): Transport {
  let failed: ModelFailure | undefined;
  let isSent = false;
  const fail = (failure: ModelFailure): never => {
    failed ??= failure;
    throw failure;
  };
  return {
    failed: () => failed,
    isSent: () => isSent,
    async fetch(input, init) {
      isSent = true;
      const headers = new Headers(init?.headers);
      headers.set('idempotency-key', idempotencyKey);
      let response: Response;
      try {
        response = await fetch(input, { ...init, headers, signal });
      } catch (error) {
        signal.throwIfAborted();
        return fail(failureOfTransport(error));
      }
      if (!response.ok) return fail(await failureOfResponse(response));
      if (!response.body) return response;
      const heard = bytesHeard(response.body, silenceMs, (error) => {
        if (!signal.aborted) failed ??= failureOfTransport(error);
      });
      const body = end ? upToEnd(heard, new AnswerEvents(end)) : heard;
      return new Response(body, { status: response.status, headers: response.headers });
    },
  };
}

/** Passes the bytes on; fails after this long without any. */
function bytesHeard(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
  onBreak: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const silence = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        silence.reject(new ModelFailure('broken', `The provider sent nothing for ${silenceMs / 1_000} s.`));
      }, silenceMs);
      try {
        const { done, value } = await Promise.race([reader.read(), silence.promise]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak(error);
        void reader.cancel(error).catch(() => {});
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** What a server sends after its answer is read for so long, so that its connection can be kept. */
const REST_MS = 1_000;

/** Passes on the events of an answer, and ends with it, even if the server does not. */
function upToEnd(body: ReadableStream<Uint8Array>, events: AnswerEvents): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const readRest = async (): Promise<void> => {
    const timer = setTimeout(() => void reader.cancel().catch(() => {}), REST_MS);
    // Whatever happens to the connection now, the answer is complete
    const { done } = await reader.read().catch(() => ({ done: true }));
    clearTimeout(timer);
    if (!done) await reader.cancel();
  };
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read();
        const passed = done ? [] : events.push(decoder.decode(value, { stream: true }));
        if (passed.length > 0) controller.enqueue(Buffer.from(passed.join('')));
        if (done || events.isOver) {
          controller.close();
          if (!done) void readRest();
          return;
        }
        if (passed.length > 0) return;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Runs one request of a library. It throws a `ModelFailure` or the abort reason. */
export async function asked<T>(reach: Reach, transport: Transport, act: () => PromiseLike<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    reach.signal.throwIfAborted();
    const failure = transport.failed();
    if (failure || error instanceof ModelFailure) throw failure ?? error;
    // A library error before sending is about the request, and later about an invalid answer
    throw transport.isSent()
      ? new ModelFailure('broken', 'The provider sent an answer that cannot be read.')
      : new ModelFailure('rejected', `This provider cannot be asked that. ${saidBy(error)}`);
  }
}

const SAID_MAX = 300;
/** The text of a library about the request: names of features and models, no content. */
const saidBy = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/\s+/g, ' ').slice(0, SAID_MAX) : '';
