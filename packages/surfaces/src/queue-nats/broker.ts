/** What sending, delivering and settling in NATS have in common. */
import { OpenwopError } from '@gantry/protocol';
import type { QueueBounds, QueueMessage } from '../ports/queue.ts';
import { deadLetterId, deadLetterPayload, deadLetterTopicOf } from '../queue/dead-letter.ts';
import { toBody } from '../queue/envelope.ts';
import type { OpenDeliveries } from '../queue/open-deliveries.ts';
import { type NatsLink, REQUEST_TIMEOUT_MS } from './connection.ts';
import { isMissing } from './errors.ts';
import type { NatsHandle } from './handle.ts';
import { type Places, subjectOf } from './places.ts';
import { type PutIfRoom, put } from './room.ts';

export interface Broker {
  readonly link: NatsLink;
  readonly places: Places;
  readonly bounds: QueueBounds;
  readonly open: OpenDeliveries<NatsHandle>;
  readonly holder: string;
  readonly now: () => number;
  readonly report: (fault: unknown) => void;
}

export async function send(
  { link, places }: Broker,
  { tenant, topic }: { readonly tenant: string; readonly topic: string },
  message: QueueMessage,
  how: PutIfRoom,
): Promise<void> {
  const parcel = { subject: subjectOf(tenant, topic), messageId: message.messageId, body: toBody(message) };
  await link.use(async (session) => {
    const attempt = async () => how(session, { ...parcel, stream: await places.stream(session, tenant) });
    await attempt().catch((error: unknown) => {
      if (error instanceof OpenwopError) throw error;
      places.forget(tenant);
      if (!isMissing(error)) throw error;
      return attempt();
    });
  });
}

export interface Burial {
  readonly topic: string;
  readonly group: string;
  readonly deliveryCount: number;
  readonly reason: string;
}

/**
 * Before the message leaves its topic; twice after a crash in between, with one id that the server knows again. Never
 * refused: the message was there already.
 */
export async function bury(
  broker: Broker,
  tenant: string,
  message: QueueMessage,
  about: Burial,
): Promise<void> {
  const { messageId, headers } = message;
  const letter = { messageId: deadLetterId(messageId, about.group), headers };
  const payload = deadLetterPayload({ ...about, messageId, payload: message.payload });
  await send(broker, { tenant, topic: deadLetterTopicOf(about.topic) }, { ...letter, payload }, put);
}

/** What became of a delivery; answered when the server has it. */
export const tell = (link: NatsLink, reply: string, word: string) =>
  link.use(({ nats }) => nats.request(reply, word, { timeout: REQUEST_TIMEOUT_MS }));
