/** Takes messages from the queue of a group. */
import type { Channel, Message } from 'amqplib';
import { BODY_BYTES_MAX } from '../queue/envelope.ts';
import { pause } from '../queue/pause.ts';
import { LEASE_BYTES_MAX } from '../queue/queue-store.ts';
import type { RabbitSession } from './session.ts';

/** A delivery is settled on the channel that it came by. */
export interface Taken {
  readonly channel: Channel;
  readonly message: Message;
}

const countOf = ({ properties }: Message): number =>
  Number(properties.headers?.['x-delivery-count'] ?? 0) + 1;

export const deliveryCountOf = ({ message }: Taken): number => countOf(message);

/** What is there. I9 of the port: the size of a message is known only when it is taken. */
export async function takeReady(
  { gets }: RabbitSession,
  queue: string,
  messagesMax: number,
): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (let bytes = 0; taken.length < messagesMax && bytes + BODY_BYTES_MAX <= LEASE_BYTES_MAX; ) {
    const message = await gets.get(queue);
    if (message === false) break;
    bytes += message.content.length;
    taken.push({ channel: gets, message });
  }
  return taken;
}

/** The first that comes. Rejects when the session is lost meanwhile. */
export async function takeNext(
  { waits, lost }: RabbitSession,
  queue: string,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<Taken[]> {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const messages: Message[] = [];
  const { consumerTag } = await waits.consume(queue, (delivered) => {
    // The server says null when the queue is gone
    if (delivered) messages.push(delivered);
    resolve();
  });
  await pause(waitMs, AbortSignal.any([signal, lost]), [arrived]);
  if (lost.aborted) throw new Error('the connection was lost while messages were waited for');
  // At most one comes until then: see `WAITING_PREFETCH`
  await waits.cancel(consumerTag);
  if (!signal.aborted) return messages.map((message) => ({ channel: waits, message }));
  for (const message of messages) waits.nack(message, false, true);
  return [];
}
