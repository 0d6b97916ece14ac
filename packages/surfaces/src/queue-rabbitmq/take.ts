/** Takes messages from the queue of a group. */
import type { Channel, GetMessage } from 'amqplib';
import { pause } from '../queue/pause.ts';
import type { RabbitSession } from './connection.ts';

/** A delivery is settled on the channel that it came by. */
export interface Taken {
  readonly channel: Channel;
  readonly message: GetMessage;
  /** After it is settled. */
  release(): void;
}

const countOf = ({ properties }: GetMessage): number =>
  Number(properties.headers?.['x-delivery-count'] ?? 0) + 1;

export const deliveryCountOf = ({ message }: Taken): number => countOf(message);

/** What is there. */
export async function takeReady(
  { gets }: RabbitSession,
  queue: string,
  messagesMax: number,
): Promise<Taken[]> {
  const taken: Taken[] = [];
  while (taken.length < messagesMax) {
    const message = await gets.get(queue);
    if (message === false) break;
    taken.push({ channel: gets, message, release: () => {} });
  }
  return taken;
}

/** The first that comes, on a channel of its own. */
export async function takeNext(
  { connection }: RabbitSession,
  queue: string,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<Taken[]> {
  const channel = await connection.createChannel();
  const release = (): void => void channel.close().catch(() => {});
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  let message: GetMessage | null = null;
  channel.on('error', () => resolve()).on('close', () => resolve());
  await channel.prefetch(1);
  const { consumerTag } = await channel.consume(queue, (delivered) => {
    message = delivered as GetMessage | null;
    resolve();
  });
  await pause(waitMs, signal, [arrived]);
  if (message === null) {
    // What arrives just now is given back with the channel
    release();
    return [];
  }
  await channel.cancel(consumerTag);
  return [{ channel, message, release }];
}
