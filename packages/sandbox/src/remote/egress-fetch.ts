/** `fetch` for the MCP transport that leaves through egress alone. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Egress, EgressRequest, EgressResponse } from '@gantry/egress';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';

/** An egress that can hand over a body while it still arrives; without that, answers come whole. */
export interface RemoteEgress extends Pick<Egress, 'request'> {
  stream?(
    url: string,
    request?: EgressRequest,
  ): Promise<Pick<EgressResponse, 'status' | 'headers'> & { readonly body: ReadableStream<Uint8Array> }>;
}

/** What holds for the call that a request belongs to. */
export interface CallTerms {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The answer broke off while it arrived: the library would wait for the rest until the time is over. */
  readonly onBreak?: (error: unknown) => void;
}

/** The transport hands over no more than URL and init, so the call is found by where it was made. */
export const callTerms = new AsyncLocalStorage<CallTerms>();

/** For what belongs to no call: notifications, the end of a session. */
const ASIDE_MS = 10_000;
const RESPONSE_BYTES_MAX = 10 * 1024 * 1024;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export function egressFetch(egress: RemoteEgress, tenant: string): FetchLike {
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    // A stream that nothing asked for would stay open as long as the connection. To resume one is another matter.
    if (init.method === 'GET' && !headers.has('last-event-id')) return new Response(null, { status: 405 });
    const body = typeof init.body === 'string' ? init.body : undefined;
    const terms = isRequest(body) ? callTerms.getStore() : undefined;
    const signal = terms?.signal ?? init.signal;
    const request: EgressRequest = {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(headers),
      timeoutMs: terms?.timeoutMs ?? ASIDE_MS,
      maxResponseBytes: RESPONSE_BYTES_MAX,
      tenant,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    };
    const answer = egress.stream
      ? await egress.stream(String(url), request)
      : await egress.request(String(url), request);
    const { status, headers: received } = answer;
    const { body: given } = answer;
    if (WITHOUT_BODY.has(status)) {
      if (given instanceof ReadableStream) await given.cancel();
      return new Response(null, { status, headers: received });
    }
    const content = given instanceof Uint8Array ? new Uint8Array(given) : watched(given, terms?.onBreak);
    return new Response(content, { status, headers: received });
  };
}

/** A call that is given up must still be able to say so: its notification is not bound to its signal. */
const isRequest = (body: string | undefined): boolean => {
  const message: unknown = body === undefined ? undefined : JSON.parse(body);
  return typeof message === 'object' && message !== null && 'id' in message && 'method' in message;
};

/** Not made from a generator: one that is cancelled before its first step would leave its source open. */
function watched(body: ReadableStream<Uint8Array>, onBreak?: (error: unknown) => void): ReadableStream {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak?.(error);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
