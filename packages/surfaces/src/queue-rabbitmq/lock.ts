/** An exclusive queue is a lock: it goes with the connection of its holder. */
import { pause } from '../queue/pause.ts';
import { isLocked } from './errors.ts';
import { onChannel, type RabbitSession } from './session.ts';

const AGAIN_MS = 50;

export async function alone<T>(session: RabbitSession, lock: string, work: () => Promise<T>): Promise<T> {
  const take = (): Promise<boolean> =>
    onChannel(session, (channel) => channel.assertQueue(lock, { exclusive: true, durable: false })).then(
      () => true,
      (error: unknown) => {
        if (isLocked(error)) return false;
        throw error;
      },
    );
  // Ended by the time that every operation has
  while (!(await take())) await pause(AGAIN_MS, session.lost);
  try {
    return await work();
  } finally {
    await onChannel(session, (channel) => channel.deleteQueue(lock));
  }
}
