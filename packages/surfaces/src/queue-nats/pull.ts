/** Takes messages from a consumer. The library's `fetch` waits a second for a batch that does not fill. */
import { createInbox, type Msg, nanos } from '@nats-io/transport-node';
import { type NatsLink, REQUEST_TIMEOUT_MS } from './connection.ts';

export interface Pull {
  readonly stream: string;
  readonly consumer: string;
  readonly messagesMax: number;
  /** 0 for what is there. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export type Pulled =
  | { readonly kind: 'messages'; readonly messages: readonly Msg[] }
  /** The consumer or its stream was deleted. */
  | { readonly kind: 'gone' };

const NO_RESPONDERS = 503;
const CONSUMER_DELETED = 409;

export function pull(
  { nats }: NatsLink,
  { stream, consumer, messagesMax, waitMs, signal }: Pull,
): Promise<Pulled> {
  const { promise, resolve } = Promise.withResolvers<Pulled>();
  const messages: Msg[] = [];
  const inbox = createInbox();
  const end = (pulled: Pulled): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    subscription.unsubscribe();
    resolve(pulled);
  };
  const stop = (): void => end({ kind: 'messages', messages });
  const subscription = nats.subscribe(inbox, {
    callback: (error, message) => {
      const code = message.headers?.code ?? 0;
      if (error || code === NO_RESPONDERS || code === CONSUMER_DELETED) return end({ kind: 'gone' });
      if (code !== 0) return stop();
      messages.push(message);
      if (messages.length === messagesMax) stop();
    },
  });
  // The server says when the time is over; this is for one that has gone silent
  const timer = setTimeout(stop, waitMs + REQUEST_TIMEOUT_MS);
  signal.addEventListener('abort', stop, { once: true });
  const wait = waitMs === 0 ? { no_wait: true } : { expires: nanos(waitMs) };
  const request = JSON.stringify({ batch: messagesMax, ...wait });
  nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: inbox });
  if (signal.aborted) stop();
  return promise;
}

export interface AckFacts {
  readonly stream: string;
  readonly deliveryCount: number;
  readonly seq: number;
}

const SHORT = 9;

/** `$JS.ACK.stream.consumer.count.seq.…`; newer servers put domain and account before the stream. */
export function readAck(reply: string): AckFacts | null {
  const parts = reply.split('.');
  const at = parts.length === SHORT ? 2 : 4;
  const [stream, count, seq] = [parts[at], Number(parts[at + 2]), Number(parts[at + 3])];
  if (!reply.startsWith('$JS.ACK.') || !stream || !Number.isInteger(count) || !Number.isInteger(seq))
    return null;
  return { stream, deliveryCount: count, seq };
}
