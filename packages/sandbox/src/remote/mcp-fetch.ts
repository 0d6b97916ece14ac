/** What the MCP transport sends leaves through egress, under the terms of the call that it belongs to. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Egress, egressFetch, type FetchTerms } from '@gantry/egress';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';

export type RemoteEgress = Pick<Egress, 'stream'>;

export interface CallTerms extends Pick<FetchTerms, 'onBreak'> {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The transport hands over no more than URL and init, so the call is found by where it was made. */
export const callTerms = new AsyncLocalStorage<CallTerms>();

/** For what belongs to no call: notifications, the end of a session. */
const ASIDE_MS = 10_000;

export function mcpFetch(egress: RemoteEgress, tenant: string): FetchLike {
  return async (url, init = {}) => {
    // A stream that nothing asked for would stay open as long as the connection. To resume one is another matter.
    if (init.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
      return new Response(null, { status: 405 });
    const terms = isRequest(init.body) ? callTerms.getStore() : undefined;
    const { timeoutMs = ASIDE_MS, signal = init.signal, onBreak } = terms ?? {};
    const send = egressFetch(egress, { tenant, timeoutMs, onBreak });
    // The library would wait until the time is over for the rest of an answer that broke off.
    return send(url, { ...init, ...(signal && { signal }) });
  };
}

/** A call that is given up must still be able to say so: its notification is not bound to its signal. */
const isRequest = (body: RequestInit['body']): boolean => {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return typeof message === 'object' && message !== null && 'id' in message && 'method' in message;
};
