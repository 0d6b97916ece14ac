/**
 * The fetch for the library of a family. It maps failures before the library sees them, so that none of its error
 * objects contains one, and fails answers that time out.
 */
import { ModelFailure, type Reach } from '../model.ts';
import { AnswerEvents, type WireEnd } from './answer-events.ts';
import { answerStream } from './answer-stream.ts';
import { failureOfResponse, failureOfTransport } from './failure.ts';

/** For libraries that require a key; egress replaces it with the real one. */
export const KEY_PLACEHOLDER = 'set-by-egress';
const SILENCE_MS = 60_000;

export interface Transport {
  readonly fetch: typeof fetch;
  /** The failure on the wire, whatever the library made of it. */
  readonly failed: () => ModelFailure | undefined;
  readonly isSent: () => boolean;
  readonly silence: Silence;
}

/** The time without an answer after which a request ends. */
export class Silence {
  readonly #ms: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    clearTimeout(this.#timer);
    const failure = new ModelFailure('broken', `The provider sent nothing for ${this.#ms / 1_000} s.`);
    this.#timer = setTimeout(() => this.#controller.abort(failure), this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

export interface TransportTerms {
  /** The answer is a stream of events. The caller measures the silence, since not every event says something. */
  readonly end?: WireEnd;
  /** The answer takes less time than the silence that is allowed, also to its first byte. */
  readonly isQuick?: boolean;
}

export function transportOf(
  { fetch, signal: caller, silenceMs = SILENCE_MS, idempotencyKey, tenant = '' }: Reach,
  { end, isQuick = false }: TransportTerms = {},
): Transport {
  const silence = new Silence(silenceMs);
  const signal = AbortSignal.any([caller, silence.signal]);
  let failed: ModelFailure | undefined;
  let isSent = false;
  const onBreak = (error: unknown): void => {
    if (!caller.aborted) failed ??= failureOfTransport(silence.signal.reason ?? error);
  };
  const fail = (error: unknown): never => {
    caller.throwIfAborted();
    onBreak(error);
    throw failed;
  };
  const sent = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set('idempotency-key', idempotencyKey);
    const response = await fetch(input, { ...init, headers, signal });
    if (!response.ok) throw await failureOfResponse(response);
    return response;
  };
  return {
    failed: () => failed,
    isSent: () => isSent,
    silence,
    async fetch(...request) {
      isSent = true;
      if (isQuick) silence.begin();
      const response = await sent(...request)
        .catch(fail)
        .finally(() => isQuick && silence.end());
      if (!response.body) return response;
      const body = end
        ? answerStream(response.body, { events: new AnswerEvents(end), tenant, silenceMs, onBreak })
        : heard(response.body, silence, onBreak);
      return new Response(body, { status: response.status, headers: response.headers });
    },
  };
}

/** Passes the bytes on, and measures the silence between them. */
function heard(
  body: ReadableStream<Uint8Array>,
  silence: Silence,
  onBreak: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      silence.begin();
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak(error);
        throw error;
      } finally {
        silence.end();
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
