/** The cache port on Redis. */
import type { CachePort } from '../ports/cache.ts';
import { act, type RedisDeps } from './act.ts';
import { boundsOf, keysOf, MARK_LENGTH, nameOf, readEntry } from './places.ts';
import { SCRIPTS } from './scripts.ts';

export interface RedisCacheOptions extends RedisDeps {
  readonly capacityBytes: number;
}

export function redisCache(options: RedisCacheOptions): CachePort {
  const { database, capacityBytes: capacity } = options;
  const trim = (tenant: string, now: number): Promise<unknown> =>
    database.run(SCRIPTS.cacheTrim, keysOf('cache', tenant), [now, tenant, capacity]);
  return {
    async get(place, { tenant, now }) {
      const raw = await database.run(SCRIPTS.cacheGet, keysOf('cache', tenant), [now, tenant, nameOf(place)]);
      if (typeof raw !== 'string') return null;
      const { expiresAt, mark, text } = readEntry(raw);
      return { value: JSON.parse(text), storedAt: Number(mark), expiresAt: expiresAt! };
    },
    async put({ value, expiresAt, ...place }, call) {
      const storedAt = String(call.now).padStart(MARK_LENGTH, '0');
      const entry = [nameOf(place), expiresAt, storedAt, JSON.stringify(value), capacity];
      const acted = await act(options, SCRIPTS.cachePut, { area: 'cache', call }, entry);
      let room = acted.kind === 'done' ? acted.note : undefined;
      while (room === 'full') room = String(await trim(call.tenant, call.now));
    },
    async evict({ namespace, key }, call) {
      const bounds = key === null ? boundsOf(namespace, '') : boundsOfOne(nameOf({ namespace, key }));
      const acted = await act(options, SCRIPTS.cacheEvict, { area: 'cache', call }, bounds);
      if (acted.kind === 'refused') throw new Error(`A script refused with ${acted.reason}`);
      return acted.answer as { evicted: number };
    },
  };
}

const boundsOfOne = (name: string): readonly string[] => [`[${name}`, `[${name}`];
