/**
 * Waits until the logs of a server that has just started have the leaders that they keep.
 *
 * For a moment after its start RabbitMQ repeats for each log what became of it in all its life: [m] with 3.10, six
 * leaders in 0.2 s for one that was killed five times. What is published meanwhile may get no answer, and nobody knows
 * where it is. So who comes first writes marks until none is lost, and leaves a note for those who come later: a
 * message that is in memory alone and goes with the server.
 */
import { pause } from '../queue/pause.ts';
import { answered } from './answered.ts';
import { close } from './channel.ts';
import { MARK, publish } from './log-writers.ts';
import { onChannel, type RabbitSession } from './session.ts';

export const NOTE = 'gantry.queue.settled';
const MARKS = 20;
const APART_MS = 100;
const LOST_AFTER_MS = 1_000;

/** Ended by the time that every operation has. */
export async function untilSettled(session: RabbitSession, log: string): Promise<void> {
  if (await isNoted(session)) return;
  while (!(await isSteady(session, log))) session.lost.throwIfAborted();
  await publish(session.confirms, { exchange: '', key: NOTE, body: MARK, options: { persistent: false } });
}

async function isNoted(session: RabbitSession): Promise<boolean> {
  const bounds = { 'x-max-length': 1 };
  const { messageCount } = await onChannel(session, (channel) =>
    channel.assertQueue(NOTE, { durable: true, arguments: bounds }),
  );
  return messageCount > 0;
}

async function isSteady({ connection, lost }: RabbitSession, log: string): Promise<boolean> {
  const channel = await connection.createConfirmChannel();
  channel.on('error', () => {});
  try {
    const confirmed: Promise<void>[] = [];
    while (confirmed.length < MARKS) {
      confirmed.push(publish(channel, { exchange: '', key: log, body: MARK, options: {} }));
      await pause(APART_MS, lost);
    }
    await answered(LOST_AFTER_MS, Promise.all(confirmed));
    return true;
  } catch {
    return false;
  } finally {
    await close(channel);
  }
}
