/** `ctx.storage.cache`: values that may disappear at any time. */
import { invalid, isoTime } from '@gantry/protocol';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import { fill, member } from '../../calls/spelling.ts';
import { type Over, opening, quotaPort } from '../../open-port.ts';
import type { CachePort } from '../../ports/cache.ts';
import { embeddedCache } from '../../sqlite/cache.ts';
import { jsonBytes } from '../../text.ts';

const Target = { key: s.Name, namespace: s.optional(s.Namespace) };

/** Per tenant. */
const LIMITS = { quotaBytes: 64 * 1_048_576 };

const cachePort = quotaPort('cache', LIMITS, {
  embedded: ({ embedded }, { quotaBytes: capacityBytes }) => embeddedCache(embedded, { capacityBytes }),
  async postgres() {
    const { postgresCache } = await import('../../postgres/cache.ts');
    return (database, { quotaBytes: capacityBytes }) => postgresCache(database, { capacityBytes });
  },
});

export const cacheSurface = defineSurface({
  capability: 'cache',
  spellings: [
    {
      call: 'get',
      gives: [
        member('hit', 'whether there is a value', (value) => 'value' in value),
        member('ageMs', 'since it was stored', ({ storedAt }, { now }) =>
          typeof storedAt === 'string' ? Math.max(0, now - Date.parse(storedAt)) : undefined,
        ),
      ],
    },
    { call: 'put', takes: [fill({ ttlSeconds: 3_600 })] },
  ],
  summary:
    'A cache with time to live. Each tenant sees only its own values and has its own capacity; the least recently used ' +
    `value is evicted first. ${s.NAMESPACES}`,
  journal: 'own',
  opens: opening(cachePort, implementCache),
  limits: { maxValueBytes: 1_048_576, maxTtlSeconds: 86_400 },
  exceeded: { maxValueBytes: 'cache_value_too_large', maxTtlSeconds: 'cache_ttl_exceeds_max' },
  errors: ['cache_value_too_large', 'cache_ttl_exceeds_max'],
  methods: {
    get: reads('The value, or nothing.', Target, {
      value: s.optional(s.Json),
      storedAt: s.optional(s.Timestamp),
      expiresAt: s.optional(s.Timestamp),
    }),
    put: writes(
      'Stores a value for at most `ttlSeconds`.',
      { ...Target, value: s.Json, ttlSeconds: s.Seconds },
      s.Done,
    ),
    delete: writes('Removes a value.', Target, { deleted: s.Flag }),
    evict: writes(
      'Removes a value, or without a key every value of the namespace.',
      { key: s.optional(s.Name), namespace: s.optional(s.Namespace) },
      { evicted: s.Whole },
    ),
  },
});

export function implementCache({ port }: Pick<Over<CachePort>, 'port'>): ImplementedSurface {
  return cacheSurface.implement({
    async get(input, call) {
      const entry = await port.get(targetOf(input), call);
      if (entry === null) return {};
      const { value, storedAt, expiresAt } = entry;
      return { value, storedAt: isoTime(storedAt), expiresAt: isoTime(expiresAt) };
    },
    async put({ value, ttlSeconds, ...target }, call) {
      const expiresAt = call.now + lifetimeMs(ttlSeconds);
      cacheSurface.check('maxValueBytes', jsonBytes(value));
      await port.put({ ...targetOf(target), value, expiresAt }, call);
      return { ok: true };
    },
    async delete(input, call) {
      const { evicted } = await port.evict(targetOf(input), call);
      return { deleted: evicted > 0 };
    },
    evict: ({ key = null, namespace = '' }, call) => port.evict({ key, namespace }, call),
  });
}

/** The protocol does not limit cache keys, but backends need a limit. */
const KEY_BYTES_MAX = 1_024;

function targetOf({ key, namespace = '' }: { key: string; namespace?: string }) {
  if (Buffer.byteLength(key) <= KEY_BYTES_MAX) return { key, namespace };
  throw invalid(`A cache key can have at most ${KEY_BYTES_MAX} bytes; hash longer ones.`);
}

function lifetimeMs(ttlSeconds: number): number {
  cacheSurface.check('maxTtlSeconds', ttlSeconds);
  return Math.ceil(ttlSeconds * 1_000);
}
