/** A new group gets what the log of its topic still has. */
import type { QueueBounds } from '../ports/queue.ts';
import { type LogStart, markEnd, readLog } from './log.ts';
import { namesOf, type Place } from './names.ts';
import type { Room } from './room.ts';
import type { RabbitSession } from './session.ts';

export interface Filling {
  readonly session: RabbitSession;
  readonly bounds: QueueBounds;
  readonly room: Room;
  readonly now: () => number;
}

/** Answers the offset of the last entry that it saw. */
export async function fillGroup(
  { session, bounds, room, now }: Filling,
  place: Place,
  start: LogStart,
): Promise<number> {
  const { log, queue, bulk } = namesOf(place);
  const { confirms } = session;
  const end = await markEnd(session, log);
  let last = typeof start === 'number' ? start - 1 : -1;
  for await (const entry of readLog(session, log, { start, end, signal: session.lost })) {
    last = entry.offset;
    const remainingMs = entry.at + bounds.retentionMs - now();
    if (remainingMs <= 0) continue;
    const options = { persistent: true, expiration: remainingMs };
    confirms.sendToQueue(queue, entry.body, options);
    for (let unit = 1; unit < room.unitsOf(entry.body); unit++)
      confirms.sendToQueue(bulk, Buffer.alloc(0), options);
  }
  session.lost.throwIfAborted();
  await confirms.waitForConfirms();
  return last;
}
