/** Publishes: the server answers when all queues of the topic have the message on disk. */
import type { QueueMessage } from '../ports/queue.ts';
import { toBody } from '../queue/envelope.ts';
import type { RabbitLink } from './connection.ts';
import { timestampOf } from './log.ts';
import { type Parcel, publish } from './log-writers.ts';
import { KEYS, namesOf, type Place } from './names.ts';
import { ensureTopic, type PlaceDeps } from './places.ts';

/** What is known of a message when something goes wrong. */
export interface Sending {
  phase: 'preparing' | 'sent';
}

export interface SendOptions {
  /** Whether a full tenant is refused. */
  readonly bounded: boolean;
  readonly sending?: Sending;
}

export async function send(
  deps: PlaceDeps & { readonly link: RabbitLink },
  place: Place,
  message: QueueMessage,
  { bounded, sending = { phase: 'preparing' } }: SendOptions,
): Promise<void> {
  const { link, room, now } = deps;
  await link.use(async (session) => {
    await ensureTopic(deps, session, place, { bounded });
    const body = toBody(message);
    const units = room.unitsOf(body);
    const done = bounded ? await room.reserve(session, place, units) : () => {};
    try {
      const { exchange, log } = namesOf(place);
      const options = { persistent: true, messageId: message.messageId, timestamp: timestampOf(now()) };
      const parcel = { exchange, key: KEYS.message, body, options };
      const bulk: Promise<void>[] = [];
      await session.logs.write(log, parcel, () => {
        sending.phase = 'sent';
        while (bulk.length < units - 1) bulk.push(publish(session.confirms, bulkOf(exchange)));
      });
      await Promise.all(bulk);
    } finally {
      done();
    }
  });
}

const bulkOf = (exchange: string): Parcel => ({
  exchange,
  key: KEYS.bulk,
  body: Buffer.alloc(0),
  options: { persistent: true },
});
