/** Publishes: the server answers when all queues of the topic have the message on disk. */
import type { QueueMessage } from '../ports/queue.ts';
import { toBody } from '../queue/envelope.ts';
import type { RabbitLink, RabbitSession } from './connection.ts';
import { timestampOf } from './log.ts';
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
      const options = { messageId: message.messageId, timestamp: timestampOf(now()) };
      const { exchange } = namesOf(place);
      const confirmed = [publish(session, exchange, KEYS.message, body, options)];
      sending.phase = 'sent';
      while (confirmed.length < units)
        confirmed.push(publish(session, exchange, KEYS.bulk, Buffer.alloc(0), {}));
      await Promise.all(confirmed);
    } finally {
      done();
    }
  });
}

interface Properties {
  readonly messageId?: string;
  readonly timestamp?: number;
}

/** Throws, rather than rejects, when nothing can be sent. */
function publish(
  { confirms }: RabbitSession,
  exchange: string,
  key: string,
  body: Buffer,
  properties: Properties,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {});
  confirms.publish(exchange, key, body, { persistent: true, ...properties }, (refused: unknown) =>
    refused ? reject(refused) : resolve(),
  );
  return promise;
}
