/** Takes messages for a consumer of a group. */
import { randomUUID } from 'node:crypto';
import type { QueueDelivery, QueueRequest } from '../ports/queue.ts';
import { DELIVERY_LIMIT_REASON, FOREIGN_REASON, isDeadLetterTopic } from '../queue/dead-letter.ts';
import { foreignMessage, fromBody } from '../queue/envelope.ts';
import { foreignBody } from '../queue/errors.ts';
import { type Broker, bury, finish } from './broker.ts';
import { OPERATION_TIMEOUT_MS } from './connection.ts';
import { type Place, placeOf } from './names.ts';
import { ensureGroup, ensureTopic, topicExists } from './places.ts';
import type { RabbitSession } from './session.ts';
import { deliveryCountOf, type Taken, takeNext, takeReady } from './take.ts';

/** A new group may have a long log to copy. */
const GROUP_TIMEOUT_MS = 120_000;

/** What is there; else the first that comes. */
export async function lease(
  broker: Broker,
  tenant: string,
  request: QueueRequest,
): Promise<readonly QueueDelivery[]> {
  const { messagesMax, waitMs, signal } = request;
  const { link } = broker;
  const place = placeOf(tenant, request);
  const isThere = await link.use((session) => findTopic(broker, session, place, waitMs));
  if (!isThere) return [];
  const queue = await link.use((session) => ensureGroup(broker, session, place), GROUP_TIMEOUT_MS);
  for (;;) {
    const ready = await link.use((session) => takeReady(session, queue, messagesMax));
    const isEnough = ready.length > 0 || waitMs === 0 || signal.aborted;
    const taken = isEnough
      ? ready
      : await link.use(
          (session) => takeNext(session, queue, { waitMs, signal }),
          waitMs + OPERATION_TIMEOUT_MS,
        );
    const deliveries = await Promise.all(taken.map((each) => deliver(broker, tenant, request, each)));
    const alive = deliveries.filter((each) => each !== null);
    if (alive.length > 0 || taken.length === 0) return alive;
  }
}

/** Who waits makes the topic that nobody published to. */
async function findTopic(
  broker: Broker,
  session: RabbitSession,
  place: Place,
  waitMs: number,
): Promise<boolean> {
  if (waitMs === 0) return topicExists(broker, session, place);
  await ensureTopic(broker, session, place, { bounded: true });
  return true;
}

/** Null for one that is dead. */
async function deliver(
  broker: Broker,
  tenant: string,
  { topic, group, visibilityMs }: QueueRequest,
  taken: Taken,
): Promise<QueueDelivery | null> {
  const content = fromBody(taken.message.content);
  const count = deliveryCountOf(taken);
  const place = placeOf(tenant, { topic, group });
  const about = { ...taken, place, tenant, topic, group, deliveryCount: count };
  if (!content) {
    broker.report(foreignBody('RabbitMQ', { tenant, topic, group }));
    const foreign = foreignMessage(`foreign.${randomUUID()}`, taken.message.content);
    if (!isDeadLetterTopic(topic)) await bury(broker, { ...about, content: foreign }, FOREIGN_REASON);
    taken.channel.reject(taken.message, false);
    return null;
  }
  const held = { ...about, content };
  if (count > broker.bounds.deliveriesMax && !isDeadLetterTopic(topic)) {
    await bury(broker, { ...held, deliveryCount: count - 1 }, DELIVERY_LIMIT_REASON);
    await finish(broker, held);
    return null;
  }
  const handle = `${broker.holder}.${randomUUID()}`;
  broker.open.add(handle, held, visibilityMs);
  return { ...content, deliveryCount: count, handle };
}
