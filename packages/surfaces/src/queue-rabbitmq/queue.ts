/** Queues in RabbitMQ. */
import { randomUUID } from 'node:crypto';
import { OpenwopError } from '@gantry/protocol';
import {
  QUEUE_BOUNDS,
  type QueueBounds,
  type QueueDelivery,
  type QueueDeps,
  type QueueMessage,
  type QueueOutcome,
  type QueuePlace,
  type QueuePort,
  type QueueReading,
  type QueueRequest,
  type QueueSettled,
} from '../ports/queue.ts';
import { effective } from '../queue/choose.ts';
import {
  ALREADY_DEAD,
  DELIVERY_LIMIT_REASON,
  deadLetterId,
  deadLetterPayload,
  deadLetterTopicOf,
  isDeadLetterTopic,
} from '../queue/dead-letter.ts';
import { fromBody, toBody } from '../queue/envelope.ts';
import { tenantFull, tokenExpired } from '../queue/errors.ts';
import { OpenDeliveries } from '../queue/open-deliveries.ts';
import {
  SUBSCRIPTION_BATCH,
  SUBSCRIPTION_VISIBILITY_MS,
  SUBSCRIPTION_WAIT_MS,
  startSubscription,
} from '../queue/subscription.ts';
import { type RabbitLink, type RabbitSession, rabbitLink } from './connection.ts';
import { markEnd, readLog } from './log.ts';
import { ensureGroup, ensureTopic, topicExists, topicOf } from './places.ts';
import { deliveryCountOf, type Taken, takeNext, takeReady } from './take.ts';

interface Held extends Taken, QueuePlace {
  readonly tenant: string;
  readonly content: QueueMessage;
  readonly deliveryCount: number;
}

interface Broker {
  readonly link: RabbitLink;
  readonly bounds: QueueBounds;
  readonly open: OpenDeliveries<Held>;
}

export async function openRabbitQueue(url: string, deps: QueueDeps): Promise<QueuePort> {
  const { bounds = QUEUE_BOUNDS, report } = deps;
  const open = new OpenDeliveries<Held>(giveBack);
  const link = rabbitLink(url, () => open.clear());
  const broker = { link, bounds, open };
  const ending = new AbortController();
  const health = () => link.use(async ({ gets }) => void (await gets.prefetch(0)));
  await health();
  return {
    ...{ backend: 'rabbitmq', journal: 'host', publishesOnce: false, delays: false },
    async publish({ topic, payload, headers }, { tenant, invocation }) {
      await send(broker, tenant, topic, { messageId: invocation.id, payload, headers });
      return { messageId: invocation.id };
    },
    consume: (request, { tenant }) => lease(broker, tenant, request),
    settle: (handle, outcome, { tenant }) => settle(broker, tenant, handle, outcome),
    stream: (reading, { tenant }) => readTopic(broker, tenant, reading),
    subscribe({ tenant, topic, group }, onMessage) {
      const size = { messagesMax: SUBSCRIPTION_BATCH, visibilityMs: SUBSCRIPTION_VISIBILITY_MS };
      const request = { topic, group, ...size, waitMs: SUBSCRIPTION_WAIT_MS };
      const source = {
        lease: (signal: AbortSignal) => lease(broker, tenant, { ...request, signal }),
        settle: (handle: string, outcome: QueueOutcome) => settle(broker, tenant, handle, outcome),
        report,
        closing: ending.signal,
      };
      return startSubscription(source, onMessage);
    },
    health,
    sweep: async () => 0,
    async close() {
      ending.abort();
      open.clear();
      await link.close();
    },
  };
}

/** The server answers when all queues of the topic have it on disk. */
async function send(
  { link, bounds }: Broker,
  tenant: string,
  topic: string,
  message: QueueMessage,
): Promise<void> {
  await link.use(async (session) => {
    await ensureTopic(session, bounds, { tenant, topic });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const options = { persistent: true, messageId: message.messageId };
    const { exchange } = topicOf(tenant, topic);
    session.confirms.publish(exchange, '', toBody(message), options, (refused: unknown) =>
      refused ? reject(refused) : resolve(),
    );
    await promise.catch((refused: unknown) => {
      throw session.lost.aborted ? refused : tenantFull(bounds.quotaBytes);
    });
  });
}

/** A new group may have a long log to copy. */
const GROUP_TIMEOUT_MS = 120_000;

/** What is there; else the first that comes. */
async function lease(
  broker: Broker,
  tenant: string,
  request: QueueRequest,
): Promise<readonly QueueDelivery[]> {
  const { topic, group, messagesMax, waitMs, signal } = request;
  const { link, bounds } = broker;
  const queue = await link.use(
    async (session) =>
      waitMs > 0 || (await topicExists(session, tenant, topic))
        ? ensureGroup(session, bounds, { tenant, topic, group })
        : null,
    GROUP_TIMEOUT_MS,
  );
  if (queue === null) return [];
  for (;;) {
    const ready = await link.use((session) => takeReady(session, queue, messagesMax));
    const taken =
      ready.length > 0 || waitMs === 0 || signal.aborted
        ? ready
        : await waiting(link, (session) => takeNext(session, queue, { waitMs, signal }));
    const deliveries = await Promise.all(taken.map((each) => deliver(broker, tenant, request, each)));
    const alive = deliveries.filter((each) => each !== null);
    if (alive.length > 0 || taken.length === 0) return alive;
  }
}

/** Waiting has its own end; only what it begins with is an operation. */
async function waiting<T>(link: RabbitLink, work: (session: RabbitSession) => Promise<T>): Promise<T> {
  const { result } = await link.use(async (session) => ({ result: work(session) }));
  return result;
}

/** Null for one that is dead, or was never ours. */
async function deliver(
  broker: Broker,
  tenant: string,
  { topic, group, visibilityMs }: QueueRequest,
  taken: Taken,
): Promise<QueueDelivery | null> {
  const content = fromBody(taken.message.content);
  if (!content) {
    taken.channel.reject(taken.message, false);
    return null;
  }
  const count = deliveryCountOf(taken);
  const held = { ...taken, tenant, topic, group, content, deliveryCount: count };
  if (count > broker.bounds.deliveriesMax && !isDeadLetterTopic(topic)) {
    await bury(broker, { ...held, deliveryCount: count - 1 }, DELIVERY_LIMIT_REASON);
    await finish(broker, held);
    return null;
  }
  const handle = randomUUID();
  broker.open.add(handle, held, visibilityMs);
  return { ...content, deliveryCount: count, handle };
}

async function bury(
  broker: Broker,
  { tenant, topic, group, content, deliveryCount }: Held,
  reason: string,
): Promise<void> {
  const { messageId, headers } = content;
  const payload = deadLetterPayload({ ...content, topic, group, deliveryCount, reason });
  const letter = { messageId: deadLetterId(messageId, group), payload, headers };
  await send(broker, tenant, deadLetterTopicOf(topic), letter);
}

/** The protocol has no answer to an acknowledgement; what is asked after it is answered after it. */
async function finish({ link }: Broker, { channel, message, release }: Held): Promise<void> {
  await link.use(async () => {
    channel.ack(message);
    await channel.prefetch(0);
  });
  release();
}

/** Does nothing on a channel that is gone: the server has taken the message back. */
function giveBack({ channel, message, release }: Held): void {
  try {
    channel.nack(message, false, true);
    release();
  } catch (error) {
    if (!(error instanceof Error && error.name === 'IllegalOperationError')) throw error;
  }
}

async function settle(
  broker: Broker,
  tenant: string,
  handle: string,
  wanted: QueueOutcome,
): Promise<QueueSettled> {
  if (broker.open.get(handle)?.tenant !== tenant) throw tokenExpired();
  const settled = await broker.open.settle(handle, (held) => carryOut(broker, held, wanted));
  return settled ?? Promise.reject(tokenExpired());
}

async function carryOut(broker: Broker, held: Held, wanted: QueueOutcome): Promise<QueueSettled> {
  const { topic, deliveryCount: count } = held;
  const outcome = effective(wanted, { topic, count, deliveriesMax: broker.bounds.deliveriesMax });
  const dead = outcome.kind === 'dead';
  if (dead && isDeadLetterTopic(topic)) throw new OpenwopError('validation_error', { message: ALREADY_DEAD });
  if (dead) await bury(broker, held, outcome.reason);
  if (outcome.kind !== 'again') await finish(broker, held);
  else if (outcome.delayMs === 0) giveBack(held);
  else setTimeout(() => giveBack(held), outcome.delayMs).unref();
  return { topic, dead };
}

async function* readTopic(
  { link, bounds }: Broker,
  tenant: string,
  { topic, fromBeginning, follow, signal }: QueueReading,
): AsyncGenerator<QueueMessage> {
  if (!follow && !fromBeginning) return;
  const { log } = topicOf(tenant, topic);
  const end = await link.use(async (session) => {
    if (follow) return ensureTopic(session, bounds, { tenant, topic }).then(() => undefined);
    return (await topicExists(session, tenant, topic)) ? markEnd(session, log) : null;
  });
  if (end === null) return;
  const start = fromBeginning ? 'first' : 'next';
  const range = { start, signal, ...(end !== undefined && { end }) } as const;
  const { entries } = await link.use(async (session) => ({ entries: readLog(session, log, range) }));
  for await (const { body } of entries) {
    const message = fromBody(body);
    if (message) yield message;
  }
}
