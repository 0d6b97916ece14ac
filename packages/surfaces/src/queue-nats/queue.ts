/** Queues in NATS JetStream. */
import { randomUUID } from 'node:crypto';
import {
  QUEUE_BOUNDS,
  type QueueDeps,
  type QueueOutcome,
  type QueuePort,
  withoutLimit,
} from '../ports/queue.ts';
import { OpenDeliveries } from '../queue/open-deliveries.ts';
import { startSubscription, TAKING } from '../queue/subscription.ts';
import { type Broker, send } from './broker.ts';
import { natsLink } from './connection.ts';
import type { NatsHandle } from './handle.ts';
import { lease } from './lease.ts';
import { ACK_WAIT_MS, places, subjectOf } from './places.ts';
import { puttingIfRoom } from './room.ts';
import { extend, giveBack, settle } from './settle.ts';
import { readStream } from './stream.ts';

/** Connects when it is first used. */
export function openNatsQueue(url: string, deps: QueueDeps): QueuePort {
  const { bounds = QUEUE_BOUNDS, now, report } = deps;
  const link = natsLink(url);
  const ending = new AbortController();
  const open = new OpenDeliveries<NatsHandle>(({ reply }) => void giveBack(link, reply, ending.signal));
  const extending = setInterval(() => void extend(link, open.values()), ACK_WAIT_MS / 3).unref();
  const putIfRoom = puttingIfRoom(bounds.quotaBytes);
  const broker: Broker = {
    link,
    places: places(bounds),
    bounds,
    open,
    holder: randomUUID(),
    now,
    report,
  };
  const unlimited = { ...broker, bounds: withoutLimit(bounds) };
  return {
    backend: 'nats',
    journal: 'host',
    publishesOnce: true,
    delays: false,
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
      const source = {
        lease: (signal: AbortSignal) => lease(unlimited, tenant, { topic, group, ...TAKING, signal }),
        settle: (handle: string, outcome: QueueOutcome) => settle(unlimited, tenant, handle, outcome),
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
