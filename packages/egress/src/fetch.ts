/** `fetch` over egress, for libraries that accept one. Sends forms, blobs and streams; receives bodies as streams. */
import { BoundedBytes } from './bounded-bytes.ts';
import type { Egress, EgressRequest } from './egress.ts';
import { egressError } from './error.ts';
import { callerHeaders, type OutgoingOptions, REQUEST_BYTES_MAX } from './outgoing.ts';

export interface FetchTerms extends Omit<EgressRequest, keyof OutgoingOptions | 'signal'> {
  /** The body failed while it arrived; its reader gets the error too. */
  readonly onBreak?: ((error: unknown) => void) | undefined;
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
const STATUS_MAX = 599;

/** Rejects with `EgressError`, or the reason of the caller's signal. `redirects` are only followed if requested. */
export function egressFetch(
  egress: Pick<Egress, 'stream'>,
  { onBreak, redirects = 0, ...terms }: FetchTerms = {},
): typeof fetch {
  return async (input, init = {}) => {
    const isRequest = input instanceof Request;
    // The URL is checked as given, so it is not passed through Request.
    const message = new Request(isRequest ? input : 'https://unused.invalid/', { duplex: 'half', ...init });
    const signal = init.signal ?? (isRequest ? input.signal : undefined);
    const body = message.body === null ? undefined : await bytesOf(message.body);
    const request: EgressRequest = {
      ...terms,
      method: message.method,
      headers: callerHeaders(message.headers),
      redirects: message.redirect === 'follow' ? redirects : 0,
      ...(body && { body }),
      ...(signal && { signal }),
    };
    try {
      const answer = await egress.stream(isRequest ? input.url : String(input), request);
      return await responseOf(answer, message.redirect, onBreak);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  };
}

async function responseOf(
  { status, headers, body, url }: Awaited<ReturnType<Egress['stream']>>,
  redirect: Request['redirect'],
  onBreak: FetchTerms['onBreak'],
): Promise<Response> {
  const isRefused = redirect === 'error' && status >= 300 && status < 400 && headers.has('location');
  const isEmpty = WITHOUT_BODY.has(status);
  if (isRefused || isEmpty || status > STATUS_MAX) await body.cancel();
  if (isRefused) throw egressError('redirect_not_allowed', 'The server redirects.');
  if (status > STATUS_MAX) throw egressError('response_invalid', `There is no status ${status}.`);
  const content = isEmpty ? null : onBreak ? watched(body, onBreak) : body;
  return Object.defineProperty(new Response(content, { status, headers }), 'url', { value: url });
}

async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const collected = new BoundedBytes(REQUEST_BYTES_MAX);
  for await (const chunk of body)
    if (!collected.add(chunk)) throw egressError('request_not_allowed', 'The body is too large.');
  return collected.bytes();
}

/** Not a generator: one that is cancelled before its first step would leave its source open. */
function watched(
  body: ReadableStream<Uint8Array>,
  onBreak: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak(error);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
