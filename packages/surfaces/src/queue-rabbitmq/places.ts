/** Makes topics and groups when they are first asked for. A group with a name is filled from the log of its topic. */
import type { Channel } from 'amqplib';
import type { QueueBounds } from '../ports/queue.ts';
import { fillGroup } from './fill-group.ts';
import { alone } from './lock.ts';
import {
  bulkArguments,
  defaultGroupOf,
  groupArguments,
  isDefaultGroup,
  KEYS,
  logArguments,
  namesOf,
  type Place,
} from './names.ts';
import type { Registries, Registry } from './registry.ts';
import type { Room } from './room.ts';
import { exists, onChannel, type RabbitSession } from './session.ts';

export interface PlaceDeps {
  readonly bounds: QueueBounds;
  readonly registryOf: Registries;
  readonly room: Room;
  readonly now: () => number;
}

interface Making extends PlaceDeps {
  readonly session: RabbitSession;
  readonly registry: Registry;
}

export const lockOf = (place: Place): string =>
  `${isDefaultGroup(place) ? namesOf(place).exchange : namesOf(place).queue}.lock`;

/** `bounded`: refuses one topic too many. */
export async function ensureTopic(
  deps: PlaceDeps,
  session: RabbitSession,
  place: Place,
  { bounded }: { readonly bounded: boolean },
): Promise<void> {
  const making = { ...deps, session, registry: await deps.registryOf(session) };
  const topic = defaultGroupOf(place);
  await ensure(making, topic, namesOf(topic).exchange, () => makeTopic(making, topic, bounded));
}

/** Answers its queue. */
export async function ensureGroup(deps: PlaceDeps, session: RabbitSession, place: Place): Promise<string> {
  await ensureTopic(deps, session, place, { bounded: true });
  const { queue } = namesOf(place);
  const making = { ...deps, session, registry: await deps.registryOf(session) };
  if (!isDefaultGroup(place)) await ensure(making, place, queue, () => makeGroup(making, place));
  else if (making.registry.defaultGroupStateOf(place) !== 'claimed')
    await known(session, queue, () => claimDefaultGroup(making, place));
  return queue;
}

/** Asking for a topic that nobody published to makes none. */
export async function topicExists(deps: PlaceDeps, session: RabbitSession, place: Place): Promise<boolean> {
  const { exchange } = namesOf(place);
  const registry = await deps.registryOf(session);
  if (registry.ageOf(defaultGroupOf(place)) <= deps.bounds.retentionMs) return true;
  return exists(session, (channel) => channel.checkExchange(exchange));
}

/** R1 of the registry. What was unused for so long may be removed just now: then it is made under its lock. */
async function ensure(
  { session, registry, bounds: { retentionMs } }: Making,
  place: Place,
  name: string,
  make: () => Promise<void>,
): Promise<void> {
  const age = registry.ageOf(place);
  if (Number.isFinite(age) && age > retentionMs) session.known.delete(name);
  await known(session, name, make);
  if (registry.ageOf(place) > retentionMs / 4) await registry.announce(place, { bounded: false });
}

async function makeTopic(making: Making, topic: Place, bounded: boolean): Promise<void> {
  const { session, registry, bounds } = making;
  if (registry.ageOf(topic) <= bounds.retentionMs) return declareTopic(making, topic);
  await alone(session, lockOf(topic), async () => {
    await registry.announce(topic, { bounded });
    await declareTopic(making, topic);
  });
}

async function declareTopic({ session, bounds, registry }: Making, topic: Place): Promise<void> {
  const { exchange, log } = namesOf(topic);
  await onChannel(session, async (channel) => {
    await channel.assertExchange(exchange, 'direct', { durable: true });
    await channel.assertQueue(log, { durable: true, arguments: logArguments(bounds) });
    await channel.bindQueue(log, exchange, KEYS.message);
    if (registry.defaultGroupStateOf(topic) === 'dropped') return;
    await declareGroup(channel, bounds, topic);
    await bindGroup(channel, topic);
  });
}

async function declareGroup(channel: Channel, bounds: QueueBounds, place: Place): Promise<void> {
  const { queue, bulk } = namesOf(place);
  await channel.assertQueue(queue, { durable: true, arguments: groupArguments(bounds) });
  await channel.assertQueue(bulk, { durable: true, arguments: bulkArguments(bounds) });
}

async function bindGroup(channel: Channel, place: Place): Promise<void> {
  const { exchange, queue, bulk } = namesOf(place);
  await channel.bindQueue(queue, exchange, KEYS.message);
  await channel.bindQueue(bulk, exchange, KEYS.bulk);
}

async function makeGroup(making: Making, place: Place): Promise<void> {
  const { session, registry, bounds } = making;
  const isKnown = registry.ageOf(place) <= bounds.retentionMs;
  if (!isKnown || !(await isReady(session, place)))
    await alone(session, lockOf(place), async () => {
      const isMade = await isReady(session, place);
      // The first group takes the place of what was kept for it: D2
      const isFirst = registry.defaultGroupStateOf(place) === 'kept';
      if (!isMade && !isFirst) await making.room.check(session, place.tenant);
      await registry.announce(place, { bounded: true });
      if (!isMade) await fillAnew(making, place);
    });
  await dropDefaultGroup(making, defaultGroupOf(place));
}

async function isReady(session: RabbitSession, place: Place): Promise<boolean> {
  const { ready, queue } = namesOf(place);
  const isThere = (name: string) => exists(session, (channel) => channel.checkQueue(name));
  return (await isThere(ready)) && (await isThere(queue));
}

/**
 * Its mark is set last: what a process that died has left without one is thrown away and made again. Messages that
 * are published just while the group is made may be delivered to it twice.
 */
async function fillAnew(making: Making, place: Place): Promise<void> {
  const { session, bounds } = making;
  const { queue, bulk, ready } = namesOf(place);
  await onChannel(session, async (channel) => {
    for (const name of [ready, queue, bulk]) await channel.deleteQueue(name);
    await declareGroup(channel, bounds, place);
  });
  const copied = await fillGroup(making, place, 'first');
  await onChannel(session, (channel) => bindGroup(channel, place));
  await fillGroup(making, place, copied + 1);
  await onChannel(session, (channel) => channel.assertQueue(ready, { durable: true }));
}

/** D2 of `names.ts`. */
async function dropDefaultGroup({ session, registry }: Making, topic: Place): Promise<void> {
  if (registry.defaultGroupStateOf(topic) !== 'kept') return;
  await alone(session, lockOf(topic), async () => {
    await registry.caughtUp();
    if (registry.defaultGroupStateOf(topic) !== 'kept') return;
    await registry.announce(topic, { bounded: false, defaultGroup: 'dropped' });
    const { queue, bulk } = namesOf(topic);
    await onChannel(session, async (channel) => {
      for (const name of [queue, bulk]) await channel.deleteQueue(name);
    });
  });
}

/** D3. */
async function claimDefaultGroup(making: Making, topic: Place): Promise<void> {
  const { session, registry, room } = making;
  await alone(session, lockOf(topic), async () => {
    await registry.caughtUp();
    const state = registry.defaultGroupStateOf(topic);
    if (state === 'claimed') return;
    if (state === 'dropped') {
      await room.check(session, topic.tenant);
      await fillAnew(making, topic);
    }
    await registry.announce(topic, { bounded: true, defaultGroup: 'claimed' });
  });
}

function known({ known: map }: RabbitSession, name: string, make: () => Promise<void>): Promise<void> {
  const found = map.get(name);
  if (found) return found;
  const made = make();
  map.set(name, made);
  made.catch(() => {
    if (map.get(name) === made) map.delete(name);
  });
  return made;
}
