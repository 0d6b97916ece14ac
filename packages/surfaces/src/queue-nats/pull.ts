/** Takes messages from a consumer. The library's `fetch` waits a second for a batch that does not fill. */
import { createInbox, type Msg, nanos } from '@nats-io/transport-node';
import { pause } from '../queue/pause.ts';
import { type NatsSession, REQUEST_TIMEOUT_MS } from './connection.ts';

export interface Pull {
  readonly stream: string;
  readonly consumer: string;
  readonly messagesMax: number;
  /** Whether to answer with what is there, or to wait until there is as much as asked for. */
  readonly atOnce: boolean;
  /** For a first one; 0 for none. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export type Pulled =
  | { readonly kind: 'messages'; readonly messages: readonly Msg[] }
  /** The consumer or its stream was deleted. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'silent' }
  /** Not for now: too many wait, or the server has a new leader. */
  | { readonly kind: 'refused'; readonly reason: string };

const NO_RESPONDERS = 503;
/** Told apart by text alone. */
const CONFLICT = 409;
const DELETED = /consumer deleted/i;

/** For what the server sent before it was asked whether it is there. */
const FLUSH_MS = 1_000;

export function pull({ nats, lost }: NatsSession, asked: Pull): Promise<Pulled> {
  const { stream, consumer, messagesMax, atOnce, waitMs } = asked;
  const signal = AbortSignal.any([asked.signal, lost]);
  const { promise, resolve } = Promise.withResolvers<Pulled>();
  const messages: Msg[] = [];
  const inbox = createInbox();
  let isOver = false;
  const close = (pulled: Pulled): void => {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    resolve(pulled);
  };
  const end = (pulled: Pulled): void => {
    subscription.unsubscribe();
    close(pulled);
  };
  const stop = (): void => end({ kind: 'messages', messages });
  /** What is on its way by then is given back, else it would come again only after its time. */
  const leave = (): void => {
    if (isOver) return;
    void subscription.drain().catch(() => {});
    close(messages.length > 0 || signal.aborted ? { kind: 'messages', messages } : { kind: 'silent' });
  };
  const subscription = nats.subscribe(inbox, {
    callback: (error, message) => {
      const { code = 0, description = '' } = message.headers ?? {};
      if (isOver) return code === 0 && message.reply ? nats.publish(message.reply, '-NAK') : undefined;
      if (messages.length > 0 && code !== 0) return stop();
      if (error || code === NO_RESPONDERS) return end({ kind: 'gone' });
      if (code === CONFLICT)
        return end(DELETED.test(description) ? { kind: 'gone' } : { kind: 'refused', reason: description });
      if (code !== 0) return stop();
      messages.push(message);
      if (messages.length === messagesMax) stop();
    },
  });
  // The server says when the time is over, or that there is nothing; one that is silent was lost, or has no such
  // consumer: nats-server 2.9 does not answer for those. After a stall of this process its answer is still unread
  const late = async (): Promise<void> => {
    await pause(FLUSH_MS, signal, [nats.flush().catch(() => {})]);
    leave();
  };
  const timer = setTimeout(late, waitMs + REQUEST_TIMEOUT_MS);
  signal.addEventListener('abort', leave, { once: true });
  const wait = { ...(atOnce && { no_wait: true }), ...(waitMs > 0 && { expires: nanos(waitMs) }) };
  const request = JSON.stringify({ batch: messagesMax, ...wait });
  nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: inbox });
  if (signal.aborted) leave();
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
