import type { Channel } from 'amqplib';

/** The driver waits for an answer also when the connection is lost meanwhile. */
export async function close(channel: Channel): Promise<void> {
  const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
  await Promise.race([closed, channel.close().catch(() => {})]);
}
