/** What delivering and settling in RabbitMQ have in common. */
import type { QueueMessage, QueuePlace } from '../ports/queue.ts';
import { deadLetterId, deadLetterPayload, deadLetterTopicOf } from '../queue/dead-letter.ts';
import type { OpenDeliveries } from '../queue/open-deliveries.ts';
import type { RabbitLink } from './connection.ts';
import { type Place, placeOf } from './names.ts';
import type { PlaceDeps } from './places.ts';
import { send } from './send.ts';
import { WAITING_PREFETCH } from './session.ts';
import type { Taken } from './take.ts';

export interface Held extends Taken, QueuePlace {
  readonly place: Place;
  readonly tenant: string;
  readonly content: QueueMessage;
  readonly deliveryCount: number;
}

export interface Broker extends PlaceDeps {
  readonly link: RabbitLink;
  readonly open: OpenDeliveries<Held>;
  /** Whose deliveries they are: RabbitMQ takes an answer only on the connection that a message came by. */
  readonly holder: string;
  readonly report: (fault: unknown) => void;
}

export async function bury(
  broker: Broker,
  { tenant, topic, group, content, deliveryCount }: Held,
  reason: string,
): Promise<void> {
  const { messageId, headers } = content;
  const payload = deadLetterPayload({ ...content, topic, group, deliveryCount, reason });
  const letter = { messageId: deadLetterId(messageId, group), payload, headers };
  const place = placeOf(tenant, { topic: deadLetterTopicOf(topic), group: '' });
  await send(broker, place, letter, { bounded: false });
}

/** The protocol has no answer to an acknowledgement; what is asked after it is answered after it. */
export async function finish({ link, room }: Broker, { channel, message, place }: Held): Promise<void> {
  await link.use(async () => {
    channel.ack(message);
    await channel.prefetch(WAITING_PREFETCH);
  });
  // What is not freed now is when it expires
  await link.use((session) => room.free(session, place, message.content)).catch(() => {});
}

/** Does nothing on a channel that is gone: the server has taken the message back. */
export function giveBack({ channel, message }: Taken): void {
  try {
    channel.nack(message, false, true);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'IllegalOperationError')) throw error;
  }
}
