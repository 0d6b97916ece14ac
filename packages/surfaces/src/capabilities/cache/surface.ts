/** `ctx.storage.cache`: values that may be gone at any time. */
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import {
  defineSurface,
  type ImplementedSurface,
  namesOf,
  reads,
  writes,
} from '../../calls/define-surface.ts';
import { Json, NAMESPACES, Name, Namespace, Seconds, Timestamp } from '../../calls/schema.ts';
import { fill, member, type Spelling } from '../../calls/spelling.ts';
import { type Over, onPostgres, opening, type PortLiteral } from '../../open-port.ts';
import type { CachePort } from '../../ports/cache.ts';
import { perTenant } from '../../quotas.ts';
import { embeddedCache } from '../../sqlite/cache.ts';

const optional = Type.Optional;
const Target = { key: Name, namespace: optional(Namespace) };

const SPELLINGS: readonly Spelling[] = [
  {
    path: 'storage.cache.get',
    to: 'cache.get',
    gives: [
      member('hit', 'whether there is a value', (value) => 'value' in value),
      member('ageMs', 'since it was put', ({ storedAt }, { now }) =>
        typeof storedAt === 'string' ? Math.max(0, now - Date.parse(storedAt)) : undefined,
      ),
    ],
  },
  { path: 'storage.cache.put', to: 'cache.put', takes: [fill({ ttlSeconds: 3_600 })] },
];

/** For each tenant. */
const CAPACITY_BYTES = 64 * 1_048_576;

export const cachePort: PortLiteral<CachePort> = {
  setting: 'cache',
  embedded: ({ embedded, quotas }) =>
    perTenant(quotas, 'cache', CAPACITY_BYTES, (capacityBytes) => embeddedCache(embedded, { capacityBytes })),
  servers: onPostgres(async (database, { quotas }) => {
    const { postgresCache } = await import('../../postgres/cache.ts');
    return perTenant(quotas, 'cache', CAPACITY_BYTES, (capacityBytes) =>
      postgresCache(database, { capacityBytes }),
    );
  }),
};

export const cacheSurface = defineSurface({
  ...namesOf('cache'),
  spellings: SPELLINGS,
  summary:
    'A cache with time to live. Each tenant sees its own values only and has its own room; what was used longest ' +
    `ago leaves first. ${NAMESPACES}`,
  journal: 'own',
  opens: opening(cachePort, implementCache),
  limits: { maxValueBytes: 1_048_576, maxTtlSeconds: 86_400 },
  exceeded: { maxValueBytes: 'cache_value_too_large', maxTtlSeconds: 'cache_ttl_exceeds_max' },
  errors: ['cache_value_too_large', 'cache_ttl_exceeds_max'],
  methods: {
    get: reads('The value, or nothing.', Target, {
      value: optional(Json),
      storedAt: optional(Timestamp),
      expiresAt: optional(Timestamp),
    }),
    put: writes(
      'Keeps a value for at most `ttlSeconds`.',
      { ...Target, value: Json, ttlSeconds: Seconds },
      { ok: Type.Literal(true) },
    ),
    delete: writes('Removes a value.', Target, { deleted: Type.Boolean() }),
    evict: writes(
      'Removes a value, or without a key every value of the namespace.',
      { key: optional(Name), namespace: optional(Namespace) },
      { evicted: Type.Integer() },
    ),
  },
});

export function implementCache({ port }: Pick<Over<CachePort>, 'port'>): ImplementedSurface {
  return cacheSurface.implement({
    async get(input, call) {
      const entry = await port.get(targetOf(input), call);
      if (entry === null) return {};
      const { value, storedAt, expiresAt } = entry;
      return { value, storedAt: timestamp(storedAt), expiresAt: timestamp(expiresAt) };
    },
    async put({ value, ttlSeconds, ...target }, call) {
      const expiresAt = call.now + lifetimeMs(ttlSeconds);
      checkSize(value);
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

/** The protocol bounds no key of the cache; no backend takes endless ones. */
const KEY_BYTES_MAX = 1_024;

const timestamp = (ms: number): string => new Date(ms).toISOString();

function targetOf({ key, namespace = '' }: { key: string; namespace?: string }) {
  if (Buffer.byteLength(key) <= KEY_BYTES_MAX) return { key, namespace };
  throw new OpenwopError('validation_error', {
    message: `A cache key has at most ${KEY_BYTES_MAX} bytes; hash longer ones.`,
  });
}

const checkSize = (value: unknown): void =>
  cacheSurface.check('maxValueBytes', Buffer.byteLength(JSON.stringify(value)));

function lifetimeMs(ttlSeconds: number): number {
  cacheSurface.check('maxTtlSeconds', ttlSeconds);
  return Math.ceil(ttlSeconds * 1_000);
}
