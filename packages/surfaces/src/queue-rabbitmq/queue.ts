/** Queues in RabbitMQ. */
import { randomUUID } from 'node:crypto';
import { OpenwopError } from '@gantry/protocol';
import {
  QUEUE_BOUNDS,
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
import { fromBody } from '../queue/envelope.ts';
import { tokenExpired, unconfirmed } from '../queue/errors.ts';
import { OpenDeliveries } from '../queue/open-deliveries.ts';
import {
  SUBSCRIPTION_BATCH,
  SUBSCRIPTION_VISIBILITY_MS,
  SUBSCRIPTION_WAIT_MS,
  startSubscription,
} from '../queue/subscription.ts';
import { type RabbitLink, type RabbitSession, rabbitLink } from './connection.ts';
import { markEnd, readLog } from './log.ts';
import { namesOf, type Place, placeOf } from './names.ts';
import { ensureGroup, ensureTopic, type PlaceDeps, topicExists } from './places.ts';
import { registries } from './registry.ts';
import { Room } from './room.ts';
import { type Sending, send } from './send.ts';
import { sweepPlaces } from './sweep.ts';
import { deliveryCountOf, type Taken, takeNext, takeReady } from './take.ts';

interface Held extends Taken, QueuePlace {
  readonly place: Place;
  readonly tenant: string;
  readonly content: QueueMessage;
  readonly deliveryCount: number;
}

interface Broker extends PlaceDeps {
  readonly link: RabbitLink;
  readonly open: OpenDeliveries<Held>;
  /** Whose deliveries they are: RabbitMQ takes an answer only on the connection that a message came by. */
  readonly holder: string;
}

function brokerOf(url: string, { bounds = QUEUE_BOUNDS, now }: QueueDeps): Broker {
  const open = new OpenDeliveries<Held>(giveBack);
  const registryOf = registries(bounds, now);
  const held = (tenant: string): number =>
    open.values().filter(({ place }) => place.tenant === tenant).length;
  const room = new Room({ bounds, registryOf, held });
  const link = rabbitLink(url, () => open.clear());
  return { link, bounds, open, now, registryOf, room, holder: randomUUID() };
}

/** Connects when it is first used. */
export function openRabbitQueue(url: string, deps: QueueDeps): QueuePort {
  const broker = brokerOf(url, deps);
  const { link, open } = broker;
  const { report } = deps;
  const ending = new AbortController();
  return {
    ...{ backend: 'rabbitmq', journal: 'host', publishesOnce: false, delays: false },
    async publish({ topic, payload, headers }, { tenant, invocation }) {
      const message = { messageId: invocation.id, payload, headers };
      const sending: Sending = { phase: 'preparing' };
      const place = placeOf(tenant, { topic, group: '' });
      await send(broker, place, message, { bounded: true, sending }).catch((error: unknown) => {
        throw sending.phase === 'sent' ? unconfirmed(error) : error;
      });
      return { messageId: message.messageId };
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
    health: () => link.use(async ({ gets }) => void (await gets.prefetch(0))),
    sweep: (now) => sweepPlaces(broker, now),
    async close() {
      ending.abort();
      open.clear();
      await link.close();
    },
  };
}

/** A new group may have a long log to copy. */
const GROUP_TIMEOUT_MS = 120_000;

/** What is there; else the first that comes. */
async function lease(
  broker: Broker,
  tenant: string,
  request: QueueRequest,
): Promise<readonly QueueDelivery[]> {
  const { messagesMax, waitMs, signal } = request;
  const { link } = broker;
  const place = placeOf(tenant, request);
  const queue = await link.use(
    async (session) =>
      waitMs > 0 || (await topicExists(broker, session, place)) ? ensureGroup(broker, session, place) : null,
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
  const place = placeOf(tenant, { topic, group });
  const held = { ...taken, place, tenant, topic, group, content, deliveryCount: count };
  if (count > broker.bounds.deliveriesMax && !isDeadLetterTopic(topic)) {
    await bury(broker, { ...held, deliveryCount: count - 1 }, DELIVERY_LIMIT_REASON);
    await finish(broker, held);
    return null;
  }
  const handle = `${broker.holder}.${randomUUID()}`;
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
  const place = placeOf(tenant, { topic: deadLetterTopicOf(topic), group: '' });
  await send(broker, place, letter, { bounded: false });
}

/** The protocol has no answer to an acknowledgement; what is asked after it is answered after it. */
async function finish({ link, room }: Broker, { channel, message, release, place }: Held): Promise<void> {
  await link.use(async () => {
    channel.ack(message);
    await channel.prefetch(0);
  });
  release();
  // What is not freed now is when it expires
  await link.use((session) => room.free(session, place, message.content)).catch(() => {});
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
  const isOurs = handle.startsWith(broker.holder);
  if (broker.open.get(handle)?.tenant !== tenant) throw isOurs ? tokenExpired() : ofAnotherProcess();
  const settled = await broker.open.settle(handle, (held) => carryOut(broker, held, wanted));
  return settled ?? Promise.reject(tokenExpired());
}

const ofAnotherProcess = (): OpenwopError =>
  new OpenwopError('queue_delivery_token_expired', {
    message:
      'This process of the host has not delivered that message: with RabbitMQ a delivery token is good only in the ' +
      'process that consumed the message, until that process stops. Consume again; the message comes with a new ' +
      'token unless it is done with.',
  });

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
  broker: Broker,
  tenant: string,
  { topic, fromBeginning, follow, signal }: QueueReading,
): AsyncGenerator<QueueMessage> {
  if (!follow && !fromBeginning) return;
  const { link, bounds, now } = broker;
  const place = placeOf(tenant, { topic, group: '' });
  const { log } = namesOf(place);
  const end = await link.use(async (session) => {
    if (follow) return ensureTopic(broker, session, place, { bounded: true }).then(() => undefined);
    return (await topicExists(broker, session, place)) ? markEnd(session, log) : null;
  });
  if (end === null) return;
  const start = fromBeginning ? 'first' : 'next';
  const range = { start, signal, ...(end !== undefined && { end }) } as const;
  const { entries } = await link.use(async (session) => ({ entries: readLog(session, log, range) }));
  for await (const { body, at } of entries) {
    const message = at + bounds.retentionMs > now() ? fromBody(body) : null;
    if (message) yield message;
  }
}
