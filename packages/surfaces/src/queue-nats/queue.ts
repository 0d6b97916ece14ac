/** Queues in NATS JetStream. */
import { randomUUID } from 'node:crypto';
import { OpenwopError } from '@gantry/protocol';
import { errors, type Msg } from '@nats-io/transport-node';
import {
  QUEUE_BOUNDS,
  type QueueBounds,
  type QueueDelivery,
  type QueueDeps,
  type QueueMessage,
  type QueueOutcome,
  type QueuePort,
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
import { backendUnavailable, tokenExpired } from '../queue/errors.ts';
import { OpenDeliveries } from '../queue/open-deliveries.ts';
import { pause } from '../queue/pause.ts';
import {
  SUBSCRIPTION_BATCH,
  SUBSCRIPTION_VISIBILITY_MS,
  SUBSCRIPTION_WAIT_MS,
  startSubscription,
} from '../queue/subscription.ts';
import { type NatsLink, type NatsSession, natsLink, REQUEST_TIMEOUT_MS } from './connection.ts';
import { isMissing } from './errors.ts';
import { handleOf, type NatsHandle, readHandle } from './handle.ts';
import { ACK_WAIT_MS, type Places, places, streamOf, subjectOf } from './places.ts';
import { type AckFacts, type Pulled, pull, readAck } from './pull.ts';
import { type PutIfRoom, put, puttingIfRoom } from './room.ts';
import { readStream } from './stream.ts';

interface Broker {
  readonly link: NatsLink;
  readonly places: Places;
  readonly bounds: QueueBounds;
  readonly open: OpenDeliveries<NatsHandle>;
  readonly holder: string;
  readonly now: () => number;
}

/** Connects when it is first used. */
export function openNatsQueue(url: string, deps: QueueDeps): QueuePort {
  const { bounds = QUEUE_BOUNDS, now, report } = deps;
  const link = natsLink(url);
  const ending = new AbortController();
  const open = new OpenDeliveries<NatsHandle>(({ reply }) => void giveBack(link, reply, ending.signal));
  const extending = setInterval(() => void extend(link, open.values()), ACK_WAIT_MS / 3).unref();
  const putIfRoom = puttingIfRoom(bounds.quotaBytes);
  const broker = { link, places: places(bounds), bounds, open, holder: randomUUID(), now };
  return {
    ...{ backend: 'nats', journal: 'host', publishesOnce: true, delays: false },
    async publish({ topic, payload, headers }, { tenant, invocation }) {
      await send(broker, { tenant, topic }, { messageId: invocation.id, payload, headers }, putIfRoom);
      return { messageId: invocation.id };
    },
    consume: (request, { tenant }) => lease(broker, tenant, request),
    settle: (handle, outcome, { tenant }) => settle(broker, tenant, handle, outcome),
    async *stream(reading, { tenant }) {
      const stream = await link.use((session) => broker.places.stream(session, tenant));
      yield* readStream(link, { stream, subject: subjectOf(tenant, reading.topic) }, reading);
    },
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
    health: () => link.use(async ({ manager }) => void (await manager.getAccountInfo())),
    sweep: async () => 0,
    async close() {
      ending.abort();
      clearInterval(extending);
      open.clear();
      await link.close();
    },
  };
}

/** Those that cannot be told now are told the next time. */
async function extend(link: NatsLink, held: readonly NatsHandle[]): Promise<void> {
  if (held.length === 0) return;
  const telling = link.use(async ({ nats }) => {
    for (const { reply } of held) nats.publish(reply, '+WPI');
  });
  await telling.catch(() => {});
}

async function send(
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

/** What is there; else the first that comes. Looks again when all that came were spent. */
async function lease(
  broker: Broker,
  tenant: string,
  request: QueueRequest,
): Promise<readonly QueueDelivery[]> {
  const { messagesMax, waitMs, signal } = request;
  const take = async (asked: {
    messagesMax: number;
    waitMs: number;
  }): Promise<readonly QueueDelivery[] | null> => {
    const messages = await pullFrom(broker, tenant, { ...request, ...asked });
    const deliveries = await Promise.all(messages.map((each) => deliver(broker, tenant, request, each)));
    const alive = deliveries.filter((each) => each !== null);
    return messages.length > 0 && alive.length === 0 ? null : alive;
  };
  for (;;) {
    const there = await take({ messagesMax, waitMs: 0 });
    if (there !== null && (there.length > 0 || waitMs === 0 || signal.aborted)) return there;
    const coming = there === null ? null : await take({ messagesMax: 1, waitMs });
    if (coming !== null) return coming;
  }
}

async function pullFrom(
  { link, places }: Broker,
  tenant: string,
  request: QueueRequest,
): Promise<readonly Msg[]> {
  const ask = async (session: NatsSession): Promise<Pulled> => {
    const consumer = await places.consumer(session, tenant, request);
    return pull(session, { ...request, stream: streamOf(tenant), consumer });
  };
  return link.use(async (session) => {
    const first = await ask(session);
    if (first.kind === 'messages') return first.messages;
    places.forget(tenant);
    const second = first.kind === 'gone' ? await ask(session) : first;
    if (second.kind === 'messages') return second.messages;
    if (second.kind === 'silent') throw new errors.TimeoutError();
    const reason = second.kind === 'refused' ? second.reason : 'it was deleted just now';
    throw backendUnavailable(`NATS does not serve this consumer group for now (${reason}). Try again later.`);
  });
}

/** Null for one that is dead, or was never ours. */
async function deliver(
  broker: Broker,
  tenant: string,
  { topic, group, visibilityMs }: QueueRequest,
  { reply = '', data }: Msg,
): Promise<QueueDelivery | null> {
  const message = fromBody(data);
  const deliveryCount = readAck(reply)?.deliveryCount ?? 0;
  if (!message) {
    await tell(broker, reply, '+TERM');
    return null;
  }
  if (deliveryCount > broker.bounds.deliveriesMax && !isDeadLetterTopic(topic)) {
    const about = { topic, group, deliveryCount: deliveryCount - 1, reason: DELIVERY_LIMIT_REASON };
    await bury(broker, tenant, message, about);
    await tell(broker, reply, '+ACK');
    return null;
  }
  const visibleUntil = broker.now() + visibilityMs;
  const facts = { reply, topic, group, visibleUntil, holder: broker.holder };
  const handle = handleOf(facts);
  broker.open.add(handle, facts, visibilityMs);
  return { ...message, deliveryCount, handle };
}

interface Burial {
  readonly topic: string;
  readonly group: string;
  readonly deliveryCount: number;
  readonly reason: string;
}

/**
 * Before the message leaves its topic; twice after a crash in between, with one id that the server knows again. Never
 * refused: the message was there already.
 */
async function bury(broker: Broker, tenant: string, message: QueueMessage, about: Burial): Promise<void> {
  const { messageId, headers } = message;
  const letter = { messageId: deadLetterId(messageId, about.group), headers };
  const payload = deadLetterPayload({ ...about, messageId, payload: message.payload });
  await send(broker, { tenant, topic: deadLetterTopicOf(about.topic) }, { ...letter, payload }, put);
}

const say = (link: NatsLink, reply: string, word: string) =>
  link.use(({ nats }) => nats.request(reply, word, { timeout: REQUEST_TIMEOUT_MS }));

const tell = ({ link }: Broker, reply: string, word: string) => say(link, reply, word);

const AGAIN_MS = 500;

/** Through an outage; after `ACK_WAIT_MS` the server delivers it again without being told. */
async function giveBack(link: NatsLink, reply: string, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + ACK_WAIT_MS; performance.now() < until && !signal.aborted; ) {
    try {
      await say(link, reply, '-NAK');
      return;
    } catch {
      await pause(AGAIN_MS, signal);
    }
  }
}

/** Only who delivered it knows whether it was settled; others go by its time. */
async function settle(
  broker: Broker,
  tenant: string,
  handle: string,
  wanted: QueueOutcome,
): Promise<QueueSettled> {
  const parts = readHandle(handle);
  const ack = parts && readAck(parts.reply);
  if (!parts || ack?.stream !== streamOf(tenant)) throw tokenExpired();
  const work = () => carryOut(broker, tenant, { ...parts, ...ack }, wanted);
  const isOurs = parts.holder === broker.holder;
  if (!isOurs && parts.visibleUntil <= broker.now()) throw tokenExpired();
  const settled = isOurs ? await broker.open.settle(handle, work) : await work();
  return settled ?? Promise.reject(tokenExpired());
}

async function carryOut(
  broker: Broker,
  tenant: string,
  delivery: NatsHandle & AckFacts,
  wanted: QueueOutcome,
): Promise<QueueSettled> {
  const { reply, topic, group, deliveryCount } = delivery;
  const { deliveriesMax } = broker.bounds;
  const outcome = effective(wanted, { topic, count: deliveryCount, deliveriesMax });
  const dead = outcome.kind === 'dead';
  if (dead && isDeadLetterTopic(topic)) throw new OpenwopError('validation_error', { message: ALREADY_DEAD });
  if (dead) {
    const about = { topic, group, deliveryCount, reason: outcome.reason };
    await bury(broker, tenant, await stored(broker, delivery), about);
  }
  const word = outcome.kind === 'again' ? `-NAK {"delay": ${outcome.delayMs * 1_000_000}}` : '+ACK';
  await tell(broker, reply, word);
  return { topic, dead };
}

async function stored(
  { link }: Broker,
  { stream, seq }: { stream: string; seq: number },
): Promise<QueueMessage> {
  const found = await link.use(({ manager }) => manager.streams.getMessage(stream, { seq }));
  const message = found && fromBody(found.data);
  if (!message) throw tokenExpired();
  return message;
}
