/** Queues in RabbitMQ. */
import { randomUUID } from 'node:crypto';
import {
  QUEUE_BOUNDS,
  type QueueDeps,
  type QueueMessage,
  type QueueOutcome,
  type QueuePort,
  type QueueReading,
  withoutLimit,
} from '../ports/queue.ts';
import { fromBody } from '../queue/envelope.ts';
import { unconfirmed } from '../queue/errors.ts';
import { OpenDeliveries } from '../queue/open-deliveries.ts';
import { startSubscription, TAKING } from '../queue/subscription.ts';
import { type Broker, giveBack, type Held } from './broker.ts';
import { rabbitLink } from './connection.ts';
import { lease } from './lease.ts';
import { markEnd, readLog } from './log.ts';
import { namesOf, placeOf } from './names.ts';
import { ensureTopic, topicExists } from './places.ts';
import { registries } from './registry.ts';
import { Room } from './room.ts';
import { seats } from './seats.ts';
import { type Sending, send } from './send.ts';
import { settle } from './settle.ts';
import { sweepPlaces } from './sweep.ts';

function brokerOf(url: string, { bounds = QUEUE_BOUNDS, now, report }: QueueDeps): Broker {
  const open = new OpenDeliveries<Held>(giveBack);
  const registryOf = registries(bounds, now);
  const held = (tenant: string): number =>
    open.values().filter(({ place }) => place.tenant === tenant).length;
  const room = new Room({ bounds, registryOf, held });
  const link = rabbitLink(url, () => open.clear());
  return { link, bounds, open, now, report, registryOf, room, holder: randomUUID() };
}

/** Each is a consumer of its queue: a thousand that begin at once take the server some seconds. */
const WAITING_MAX = { ofTenant: 100, inAll: 1_000 };
/** Each has a channel, of which a connection has 2,047 by default. */
const STREAMS_MAX = { ofTenant: 50, inAll: 1_000 };

/** Connects when it is first used. */
export function openRabbitQueue(url: string, deps: QueueDeps): QueuePort {
  const broker = brokerOf(url, deps);
  const { link, open, report } = broker;
  const unlimited = { ...broker, bounds: withoutLimit(broker.bounds) };
  const ending = new AbortController();
  const waiting = seats('wait for messages', 'ask with `waitMs: 0`', WAITING_MAX);
  const streaming = seats('read topics as streams', 'use `consume`', STREAMS_MAX);
  return {
    backend: 'rabbitmq',
    journal: 'host',
    publishesOnce: false,
    delays: false,
    async publish({ topic, payload, headers }, { tenant, invocation }) {
      const message = { messageId: invocation.id, payload, headers };
      const sending: Sending = { phase: 'preparing' };
      const place = placeOf(tenant, { topic, group: '' });
      await send(broker, place, message, { bounded: true, sending }).catch((error: unknown) => {
        throw sending.phase === 'sent' ? unconfirmed(error) : error;
      });
      return { messageId: message.messageId };
    },
    async consume(request, { tenant }) {
      using _seat = request.waitMs > 0 ? waiting.take(tenant) : null;
      return await lease(broker, tenant, request);
    },
    settle: (handle, outcome, { tenant }) => settle(broker, tenant, handle, outcome),
    async *stream(reading, { tenant }) {
      using _seat = streaming.take(tenant);
      yield* readTopic(broker, tenant, reading);
    },
    subscribe({ tenant, topic, group }, onMessage) {
      const source = {
        lease: (signal: AbortSignal) => lease(unlimited, tenant, { topic, group, ...TAKING, signal }),
        settle: (handle: string, outcome: QueueOutcome) => settle(unlimited, tenant, handle, outcome),
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
