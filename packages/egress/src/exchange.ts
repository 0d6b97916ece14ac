/** One HTTP/1.1 request and its answer over a connection that is already made, and is closed afterwards. */
import type * as Undici from 'undici';
import { BoundedBytes } from './bounded-bytes.ts';
import type { Connection } from './connect.ts';
import { codeOf, EgressError, type EgressReason, egressProblem } from './error.ts';
import { unlessInterrupted } from './interruption.ts';
import type { Outgoing } from './outgoing.ts';
import type { Target } from './target.ts';

export const RESPONSE_HEADER_BYTES_MAX = 32 * 1024;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came, or `response_too_large`. */
  read(bytesMax: number): Promise<Uint8Array>;
  /** The body as it arrives. `ended` is called once, however it ends; the consumer must read or cancel it. */
  stream(bytesMax: number, ended: () => void): ReadableStream<Uint8Array>;
  close(): void;
}

/** Loaded with the first request: a host that sends nothing pays nothing for it. */
const loadUndici = (): Promise<typeof Undici> => import('undici');

/** Hands out the one connection; a client that asks for a second gets none, so nothing is sent unpinned. */
function clientOver({ Client }: typeof Undici, origin: string, { socket }: Connection): Undici.Client {
  let used = false;
  return new Client(origin, {
    connect: (_options, callback) => {
      const gone = used || socket.destroyed;
      used = true;
      // Not at once: undici takes no note of a connection that is made before this function returns.
      // A plain Error: after its own SocketError undici would ask again, without end.
      queueMicrotask(() =>
        gone ? callback(new Error('The connection is gone'), null) : callback(null, socket),
      );
    },
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    // The whole request has one deadline, which arrives as a signal.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function reasonOf({ errors }: typeof Undici, error: unknown): EgressReason {
  if (error instanceof errors.HeadersOverflowError) return 'response_too_large';
  if (error instanceof errors.HTTPParserError) return 'response_invalid';
  if (error instanceof errors.ResponseContentLengthMismatchError) return 'response_invalid';
  // undici closes the connection at an unasked 101 and leaves no other sign of it than this text.
  if (error instanceof errors.SocketError && error.message === 'bad upgrade') return 'upgrade_not_allowed';
  return 'connect_failed';
}

const SWITCHED = 'The server switched to another protocol.';

const HAPPENED: Partial<Record<EgressReason, string>> = {
  response_too_large: 'The headers of the answer are too large.',
  response_invalid: 'The answer is not valid HTTP.',
  upgrade_not_allowed: SWITCHED,
};

function failure(undici: typeof Undici, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof EgressError) return error;
  const reason = reasonOf(undici, error);
  const happened = HAPPENED[reason] ?? 'The connection broke before the answer was complete.';
  return new EgressError(egressProblem(reason, happened), { code: codeOf(error) });
}

function responseHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return headers;
}

function refuseSwitch({ statusCode }: { readonly statusCode: number }): void {
  if (statusCode !== 101) return;
  throw new EgressError(egressProblem('upgrade_not_allowed', SWITCHED));
}

const tooLarge = (bytesMax: number): EgressError =>
  new EgressError(egressProblem('response_too_large', `The answer has more than ${bytesMax} bytes.`));

async function collect(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const collected = new BoundedBytes(bytesMax);
  for await (const chunk of body) if (!collected.add(chunk)) throw tooLarge(bytesMax);
  return collected.bytes();
}

interface Arriving {
  readonly body: AsyncIterable<Uint8Array>;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  failure(error: unknown): unknown;
  /** Called when it ends, however it ends; twice does no harm. */
  close(): void;
}

/**
 * The body as it arrives. A deadline or a caller who gives up breaks the connection, and with it the wait for the
 * next chunk. Not made from a generator: one that is cancelled before its first step would never close.
 */
function arriving({ body, bytesMax, signal, failure, close }: Arriving): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  let bytesLeft = bytesMax;
  const end = () => {
    signal.removeEventListener('abort', end);
    close();
  };
  signal.addEventListener('abort', end, { once: true });
  return new ReadableStream({
    async pull(controller) {
      try {
        signal.throwIfAborted();
        const { done, value } = await chunks.next();
        if (done) {
          end();
          controller.close();
          return;
        }
        bytesLeft -= value.byteLength;
        if (bytesLeft < 0) throw tooLarge(bytesMax);
        controller.enqueue(value);
      } catch (error) {
        const reason = failure(error);
        end();
        throw reason instanceof EgressError ? reason.afterSending() : reason;
      }
    },
    cancel: end,
  });
}

export async function exchange(
  { url }: Pick<Target, 'url'>,
  connection: Connection,
  { method, headers, body }: Outgoing,
  signal: AbortSignal,
): Promise<Answer> {
  const undici = await loadUndici();
  const client = clientOver(undici, url.origin, connection);
  const close = () => {
    connection.socket.destroy();
    void client.destroy();
  };
  try {
    const request = client.request({
      path: url.pathname + url.search,
      method,
      headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity' },
      body: body ?? null,
      onInfo: refuseSwitch,
    });
    const response = await unlessInterrupted(request, signal);
    // Closing an unread body is an error to undici; here it is the way to drop one.
    response.body.on('error', () => {});
    const read = (bytesMax: number) =>
      unlessInterrupted(collect(response.body, bytesMax), signal)
        .catch((error) => Promise.reject(failure(undici, error, signal)))
        .finally(close);
    const stream = (bytesMax: number, ended: () => void) =>
      arriving({
        body: response.body,
        bytesMax,
        signal,
        failure: (error) => failure(undici, error, signal),
        close: () => {
          close();
          ended();
        },
      });
    return { status: response.statusCode, headers: responseHeaders(response.headers), read, stream, close };
  } catch (error) {
    close();
    throw failure(undici, error, signal);
  }
}
