/** Takes messages for a consumer of a group. */
import { errors, type Msg } from '@nats-io/transport-node';
import type { QueueDelivery, QueueRequest } from '../ports/queue.ts';
import { DELIVERY_LIMIT_REASON, FOREIGN_REASON, isDeadLetterTopic } from '../queue/dead-letter.ts';
import { BODY_BYTES_MAX, foreignMessage, fromBody } from '../queue/envelope.ts';
import { backendUnavailable, foreignBody } from '../queue/errors.ts';
import { LEASE_BYTES_MAX } from '../queue/queue-store.ts';
import { type Broker, bury, tell } from './broker.ts';
import type { NatsSession } from './connection.ts';
import { isMissing } from './errors.ts';
import { isBehind } from './groups.ts';
import { handleOf } from './handle.ts';
import { streamOf, subjectOf } from './places.ts';
import { type Pull, type Pulled, pull, readAck } from './pull.ts';

/** What is there; else the first that comes. Looks again when all that came were spent. */
export async function lease(
  broker: Broker,
  tenant: string,
  request: QueueRequest,
): Promise<readonly QueueDelivery[]> {
  const { waitMs, signal } = request;
  for (;;) {
    const ready = await takeReady(broker, tenant, request);
    const isEnough = ready.length > 0 || waitMs === 0 || signal.aborted;
    const taken = isEnough
      ? ready
      : await pullFrom(broker, tenant, request, { messagesMax: 1, atOnce: false, waitMs });
    const deliveries = await Promise.all(taken.map((each) => deliver(broker, tenant, request, each)));
    const alive = deliveries.filter((each) => each !== null);
    if (alive.length > 0 || taken.length === 0) return alive;
  }
}

/**
 * I9 of the port, by asking for no more than surely fits. A pull with `max_bytes` would say so to the server, but when
 * a message that comes again does not fit, nats-server 2.9 delivers the one before it a second time.
 */
async function takeReady(broker: Broker, tenant: string, request: QueueRequest): Promise<readonly Msg[]> {
  const taken: Msg[] = [];
  for (let bytes = 0; ; ) {
    const fitting = Math.floor((LEASE_BYTES_MAX - bytes) / BODY_BYTES_MAX);
    const messagesMax = Math.min(request.messagesMax - taken.length, fitting);
    if (messagesMax <= 0) return taken;
    const asked = { messagesMax, atOnce: true, waitMs: 0 };
    const more = await pullFrom(broker, tenant, request, asked).catch((error: unknown) => {
      if (taken.length === 0) throw error;
      return [];
    });
    for (const each of more) bytes += each.data.length;
    taken.push(...more);
    if (more.length < messagesMax) return taken.length > 0 ? taken : takeUnseen(broker, tenant, request);
  }
}

const CATCH_UP_MS = 1_000;

/** The server has said that there is nothing: see `isBehind`. */
async function takeUnseen(broker: Broker, tenant: string, request: QueueRequest): Promise<readonly Msg[]> {
  if (request.waitMs > 0) return [];
  const { link, places } = broker;
  const isMistaken = await link.use(async (session) => {
    const consumer = await places.consumer(session, tenant, request);
    return isBehind(session, {
      stream: streamOf(tenant),
      consumer,
      subject: subjectOf(tenant, request.topic),
    });
  });
  const messagesMax = Math.min(request.messagesMax, Math.floor(LEASE_BYTES_MAX / BODY_BYTES_MAX));
  return isMistaken
    ? pullFrom(broker, tenant, request, { messagesMax, atOnce: true, waitMs: CATCH_UP_MS })
    : [];
}

async function pullFrom(
  { link, places }: Broker,
  tenant: string,
  request: QueueRequest,
  asked: Pick<Pull, 'messagesMax' | 'atOnce' | 'waitMs'>,
): Promise<readonly Msg[]> {
  const stream = streamOf(tenant);
  const ask = async (session: NatsSession): Promise<Pulled> => {
    const consumer = await places.consumer(session, tenant, request);
    const pulled = await pull(session, { ...asked, signal: request.signal, stream, consumer });
    return pulled.kind === 'silent' ? explainSilence(session, stream, consumer) : pulled;
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

/** nats-server 2.9 says nothing for a consumer that is gone, nor when it lets a request go that was late. */
async function explainSilence({ manager }: NatsSession, stream: string, consumer: string): Promise<Pulled> {
  try {
    await manager.consumers.info(stream, consumer);
    return { kind: 'messages', messages: [] };
  } catch (error) {
    return { kind: isMissing(error) ? 'gone' : 'silent' };
  }
}

/** Null for one that is dead. */
async function deliver(
  broker: Broker,
  tenant: string,
  { topic, group, visibilityMs }: QueueRequest,
  { reply = '', data }: Msg,
): Promise<QueueDelivery | null> {
  const message = fromBody(data);
  const { deliveryCount, seq } = readAck(reply) ?? { deliveryCount: 0, seq: 0 };
  if (!message) {
    broker.report(foreignBody(`NATS, stream ${streamOf(tenant)}, number ${seq}`, { tenant, topic, group }));
    const about = { topic, group, deliveryCount, reason: FOREIGN_REASON };
    if (!isDeadLetterTopic(topic)) await bury(broker, tenant, foreignMessage(`foreign.${seq}`, data), about);
    await tell(broker.link, reply, '+TERM');
    return null;
  }
  if (deliveryCount > broker.bounds.deliveriesMax && !isDeadLetterTopic(topic)) {
    const about = { topic, group, deliveryCount: deliveryCount - 1, reason: DELIVERY_LIMIT_REASON };
    await bury(broker, tenant, message, about);
    await tell(broker.link, reply, '+ACK');
    return null;
  }
  const visibleUntil = broker.now() + visibilityMs;
  const facts = { reply, topic, group, visibleUntil, holder: broker.holder };
  const handle = handleOf(facts);
  broker.open.add(handle, facts, visibilityMs);
  return { ...message, deliveryCount, handle };
}
