/** Where topics and groups are in NATS: one stream for each tenant, one consumer for each group. */
import { hash } from 'node:crypto';
import { AckPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { QueueBounds, QueuePlace } from '../ports/queue.ts';
import { type NatsSession, whileConnected } from './connection.ts';
import { apiCodeOf, STREAM_EXISTS_OTHERWISE } from './errors.ts';
import { checkGroup } from './groups.ts';

/** After a process died its messages are delivered again so much later. Live ones extend it. */
export const ACK_WAIT_MS = 30_000;
/** How long a publish that is repeated after a crash is told from a second one. */
const DUPLICATES_MS = 3_600_000;

const digest = (text: string): string => hash('sha256', text, 'base64url');

export const streamOf = (tenant: string): string => `GANTRY_QUEUE_${digest(tenant)}`;

/** Names become one token without dots or wildcards, whatever is in them. */
export const subjectOf = (tenant: string, topic: string): string =>
  `gantry.queue.${digest(tenant)}.${Buffer.from(topic).toString('base64url')}`;

export const consumerOf = ({ topic, group }: QueuePlace): string => digest(JSON.stringify([topic, group]));

export interface Places {
  stream(session: NatsSession, tenant: string): Promise<string>;
  consumer(session: NatsSession, tenant: string, place: QueuePlace): Promise<string>;
  /** Someone deleted it on the server: it is made anew when it is next asked for. */
  forget(tenant: string): void;
}

export function places(bounds: QueueBounds): Places {
  const { retentionMs, quotaBytes } = bounds;
  const streams = new Map<string, Promise<string>>();
  const consumers = new Map<string, Map<string, Promise<string>>>();
  const addStream = async (session: NatsSession, tenant: string): Promise<string> => {
    const name = streamOf(tenant);
    await session.manager.streams
      .add({
        name,
        subjects: [`gantry.queue.${digest(tenant)}.*`],
        max_age: nanos(retentionMs),
        duplicate_window: nanos(Math.min(DUPLICATES_MS, retentionMs)),
      })
      .catch(async (error: unknown) => {
        // The operator has given it other bounds
        if (apiCodeOf(error) !== STREAM_EXISTS_OTHERWISE) throw error;
        await liftBound(session, name, quotaBytes);
      });
    return name;
  };
  const knownStream = (session: NatsSession, tenant: string): Promise<string> =>
    known(streams, tenant, () => whileConnected(session, addStream(session, tenant)));
  const addConsumer = async (session: NatsSession, tenant: string, place: QueuePlace): Promise<string> => {
    const name = consumerOf(place);
    const stream = await knownStream(session, tenant);
    const subject = subjectOf(tenant, place.topic);
    await checkGroup(session, { stream, name, subject }, bounds);
    await session.manager.consumers.add(stream, {
      durable_name: name,
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ACK_WAIT_MS),
      max_ack_pending: -1,
      inactive_threshold: nanos(retentionMs),
    });
    return name;
  };
  return {
    stream: knownStream,
    consumer(session, tenant, place) {
      const ours = consumers.get(tenant) ?? new Map<string, Promise<string>>();
      consumers.set(tenant, ours);
      return known(ours, consumerOf(place), () =>
        whileConnected(session, addConsumer(session, tenant, place)),
      );
    },
    forget(tenant) {
      streams.delete(tenant);
      consumers.delete(tenant);
    },
  };
}

/** A bound of the server near ours would throw away what nobody has received: see `room.ts`. */
async function liftBound({ manager }: NatsSession, name: string, quotaBytes: number): Promise<void> {
  const { config } = await manager.streams.info(name);
  if (config.max_bytes > 0 && config.max_bytes < 2 * quotaBytes)
    await manager.streams.update(name, { max_bytes: -1 });
}

function known<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = map.get(key);
  if (found) return found;
  const made = make();
  map.set(key, made);
  made.catch(() => {
    if (map.get(key) === made) map.delete(key);
  });
  return made;
}
