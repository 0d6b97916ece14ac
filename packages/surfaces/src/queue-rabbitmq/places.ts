/**
 * Where topics and groups are in RabbitMQ: a topic is an exchange with a log (a stream) behind it, a group is a
 * queue behind the same exchange. The group without a name is there with its topic; others are made when they are
 * first asked for, and filled from the log.
 */
import { hash } from 'node:crypto';
import type { QueueBounds, QueuePlace } from '../ports/queue.ts';
import { pause } from '../queue/pause.ts';
import { exists, onChannel, type RabbitSession } from './connection.ts';
import { type LogStart, markEnd, readLog } from './log.ts';

const digest = (...parts: string[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

export interface Topic {
  readonly exchange: string;
  readonly log: string;
  readonly groupless: string;
}

export const topicOf = (tenant: string, topic: string): Topic => ({
  exchange: `gantry.topic.${digest(tenant, topic)}`,
  log: `gantry.log.${digest(tenant, topic)}`,
  groupless: groupOf(tenant, { topic, group: '' }),
});

export const groupOf = (tenant: string, { topic, group }: QueuePlace): string =>
  `gantry.group.${digest(tenant, topic, group)}`;

const MS = 1_000;

const logArguments = ({ retentionMs, quotaBytes }: QueueBounds) => ({
  'x-queue-type': 'stream',
  'x-max-age': `${Math.ceil(retentionMs / MS)}s`,
  'x-max-length-bytes': quotaBytes,
});

const groupArguments = ({ retentionMs, quotaBytes }: QueueBounds) => ({
  'x-queue-type': 'quorum',
  'x-overflow': 'reject-publish',
  'x-max-length-bytes': quotaBytes,
  'x-message-ttl': retentionMs,
  'x-expires': retentionMs,
});

export function ensureTopic(
  session: RabbitSession,
  bounds: QueueBounds,
  place: { readonly tenant: string; readonly topic: string },
): Promise<void> {
  const { exchange, log, groupless } = topicOf(place.tenant, place.topic);
  return known(session, exchange, () =>
    onChannel(session, async (channel) => {
      await channel.assertExchange(exchange, 'fanout', { durable: true });
      await channel.assertQueue(log, { durable: true, arguments: logArguments(bounds) });
      await channel.assertQueue(groupless, { durable: true, arguments: groupArguments(bounds) });
      for (const queue of [log, groupless]) await channel.bindQueue(queue, exchange, '');
    }),
  );
}

/** Asking for a topic that nobody published to makes none. */
export async function topicExists(session: RabbitSession, tenant: string, topic: string): Promise<boolean> {
  const { exchange } = topicOf(tenant, topic);
  return session.known.has(exchange) || exists(session, (channel) => channel.checkExchange(exchange));
}

export async function ensureGroup(
  session: RabbitSession,
  bounds: QueueBounds,
  place: QueuePlace & { readonly tenant: string },
): Promise<string> {
  await ensureTopic(session, bounds, place);
  const name = groupOf(place.tenant, place);
  if (place.group !== '') await known(session, name, () => addGroup(session, bounds, place, name));
  return name;
}

/**
 * Its mark is set last: what a process that died has left without one is thrown away and made again. Messages that
 * are published just while the group is made may be delivered to it twice.
 */
async function addGroup(
  session: RabbitSession,
  bounds: QueueBounds,
  { tenant, topic }: QueuePlace & { readonly tenant: string },
  name: string,
): Promise<void> {
  const { exchange, log } = topicOf(tenant, topic);
  const ready = `${name}.ready`;
  const isReady = (): Promise<boolean> => exists(session, (channel) => channel.checkQueue(ready));
  if (await isReady()) return;
  await alone(session, `${name}.lock`, async () => {
    if (await isReady()) return;
    const declare = { durable: true, arguments: groupArguments(bounds) };
    await onChannel(session, async (channel) => {
      await channel.deleteQueue(name);
      await channel.assertQueue(name, declare);
    });
    const copied = await copyLog(session, { log, name, start: 'first' });
    await onChannel(session, (channel) => channel.bindQueue(name, exchange, ''));
    await copyLog(session, { log, name, start: copied + 1 });
    await onChannel(session, (channel) => channel.assertQueue(ready, { durable: true }));
  });
}

interface Copy {
  readonly log: string;
  readonly name: string;
  readonly start: LogStart;
}

/** Answers the offset of the last entry that it saw. */
async function copyLog(session: RabbitSession, { log, name, start }: Copy): Promise<number> {
  const end = await markEnd(session, log);
  let last = typeof start === 'number' ? start - 1 : -1;
  const { signal } = new AbortController();
  for await (const { offset, body } of readLog(session, log, { start, end, signal })) {
    last = offset;
    session.confirms.sendToQueue(name, body, { persistent: true });
  }
  await session.confirms.waitForConfirms();
  return last;
}

const LOCK_AGAIN_MS = 50;
const RESOURCE_LOCKED = 405;

/** An exclusive queue is a lock: it goes with the connection of its holder. */
async function alone(session: RabbitSession, lock: string, work: () => Promise<void>): Promise<void> {
  const take = (): Promise<boolean> =>
    onChannel(session, (channel) => channel.assertQueue(lock, { exclusive: true, durable: false })).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === RESOURCE_LOCKED) return false;
        throw error;
      },
    );
  // Ended by the time that every operation has
  while (!(await take())) await pause(LOCK_AGAIN_MS, new AbortController().signal);
  try {
    await work();
  } finally {
    await onChannel(session, (channel) => channel.deleteQueue(lock));
  }
}

function known({ known: map }: RabbitSession, name: string, make: () => Promise<void>): Promise<void> {
  const found = map.get(name);
  if (found) return found;
  const made = make();
  map.set(name, made);
  made.catch(() => map.delete(name));
  return made;
}
