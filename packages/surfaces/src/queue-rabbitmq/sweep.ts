/** Removes topics and groups that nobody uses: R2 of the registry. */
import type { RabbitLink } from './connection.ts';
import { alone } from './lock.ts';
import { isDefaultGroup, namesOf, type Place } from './names.ts';
import { lockOf } from './places.ts';
import type { Registries, Registry } from './registry.ts';
import { onChannel, type RabbitSession } from './session.ts';

const PLACES_MAX = 100;
const TIMEOUT_MS = 120_000;

export interface Sweeping {
  readonly link: RabbitLink;
  readonly registryOf: Registries;
}

/** Answers how many it removed, and leaves others for the next time. */
export async function sweepPlaces({ link, registryOf }: Sweeping, now: number): Promise<number> {
  const unused = await link.use(async (session) => {
    const registry = await registryOf(session);
    await registry.caughtUp();
    return registry.unused(now).slice(0, PLACES_MAX);
  });
  let removed = 0;
  for (const place of unused) {
    const isRemoved = await link.use(
      async (session) => remove(session, await registryOf(session), place, now),
      TIMEOUT_MS,
    );
    if (isRemoved) removed++;
  }
  return removed;
}

function remove(session: RabbitSession, registry: Registry, place: Place, now: number): Promise<boolean> {
  return alone(session, lockOf(place), async () => {
    await registry.caughtUp();
    if (!registry.isUnused(place, now)) return false;
    const groups = isDefaultGroup(place) ? registry.groupsOf(place.tenant, place.topic) : [place];
    await onChannel(session, async (channel) => {
      const { exchange, log } = namesOf(place);
      for (const { ready, queue, bulk } of groups.map(namesOf))
        for (const name of [ready, queue, bulk]) await channel.deleteQueue(name);
      if (!isDefaultGroup(place)) return;
      await channel.deleteExchange(exchange);
      await channel.deleteQueue(log);
    });
    await registry.removed(place);
    return true;
  });
}
