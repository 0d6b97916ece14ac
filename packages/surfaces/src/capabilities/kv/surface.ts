/** `ctx.storage.kv`: keys and values with time to live, counters and compare-and-swap. */
import Type from 'typebox';
import { pageByKey } from '../../calls/cursor.ts';
import type { DataObject } from '../../calls/data.ts';
import {
  defineSurface,
  type ImplementedSurface,
  namesOf,
  reads,
  writes,
} from '../../calls/define-surface.ts';
import {
  Cursor,
  Json,
  Key,
  NAMESPACES,
  Namespace,
  PAGES,
  PageLimit,
  Prefix,
  Seconds,
  Timestamp,
} from '../../calls/schema.ts';
import { isList, member, rename, type Spelling } from '../../calls/spelling.ts';
import { type Over, onPostgres, opening, type PortLiteral } from '../../open-port.ts';
import type { KvPort } from '../../ports/kv.ts';
import { perTenant } from '../../quotas.ts';
import { embeddedKv } from '../../sqlite/kv.ts';

const optional = Type.Optional;
const Target = { key: Key, namespace: optional(Namespace) };

const remainingMs = ({ expiresAt }: DataObject, now: number): number | null =>
  typeof expiresAt === 'string' ? Math.max(0, Date.parse(expiresAt) - now) : null;

const SPELLINGS: readonly Spelling[] = [
  {
    path: 'storage.kv.get',
    to: 'kvStorage.get',
    gives: [
      member('found', 'whether there is a value', (value) => 'value' in value),
      member('ttlRemainingMs', 'null for one that stays', (value, { now }) => remainingMs(value, now)),
    ],
  },
  { path: 'storage.kv.set', to: 'kvStorage.put' },
  {
    path: 'storage.kv.cas',
    to: 'kvStorage.compareAndSwap',
    takes: [rename({ expect: 'expectedValue', set: 'newValue' })],
  },
  {
    path: 'storage.kv.list',
    to: 'kvStorage.list',
    gives: [
      member('keys', 'the keys alone', ({ entries }) =>
        isList(entries) ? entries.map((entry) => (entry as { key: string }).key) : undefined,
      ),
    ],
  },
];

/** Of keys and values, for each tenant. */
const QUOTA_BYTES = 256 * 1_048_576;

export const kvPort: PortLiteral<KvPort> = {
  setting: 'kv',
  embedded: ({ embedded, quotas }) =>
    perTenant(quotas, 'kv', QUOTA_BYTES, (quotaBytes) => embeddedKv(embedded, { quotaBytes })),
  servers: onPostgres(async (database, { quotas }) => {
    const { postgresKv } = await import('../../postgres/kv.ts');
    return perTenant(quotas, 'kv', QUOTA_BYTES, (quotaBytes) => postgresKv(database, { quotaBytes }));
  }),
};

export const kvSurface = defineSurface({
  ...namesOf('kvStorage'),
  spellings: SPELLINGS,
  summary: `A key-value store with time to live and atomic operations. Each tenant sees its own keys only. ${NAMESPACES} A node may write to it 100,000 times, as to every capability.`,
  journal: 'own',
  opens: opening(kvPort, implementKv),
  limits: { maxKeyBytes: 256, maxValueBytes: 1_048_576, maxTtlSeconds: 2_592_000 },
  exceeded: {
    maxKeyBytes: 'kv_key_too_large',
    maxValueBytes: 'kv_value_too_large',
    maxTtlSeconds: 'kv_ttl_exceeds_max',
  },
  options: {
    atomicIncrement: { summary: 'Counters.', advertises: { atomicIncrement: true } },
    compareAndSwap: { summary: 'Writes that depend on what is there.', advertises: { compareAndSwap: true } },
  },
  errors: ['kv_key_too_large', 'kv_value_too_large', 'kv_ttl_exceeds_max', 'kv_quota_exhausted'],
  methods: {
    get: reads('The value, or nothing when it is absent or expired.', Target, {
      value: optional(Json),
      expiresAt: optional(Timestamp),
    }),
    put: writes(
      'Keeps a value, for `ttlSeconds` or for good.',
      { ...Target, value: Json, ttlSeconds: optional(Seconds) },
      { ok: Type.Literal(true), replaced: Type.Boolean() },
    ),
    delete: writes('Removes a key.', Target, { deleted: Type.Boolean() }),
    list: reads(
      `Keys in byte order, page by page. ${PAGES}`,
      {
        namespace: optional(Namespace),
        prefix: optional(Prefix),
        cursor: optional(Cursor),
        limit: optional(PageLimit),
      },
      {
        entries: Type.Array(Type.Object({ key: Type.String() })),
        nextCursor: optional(Type.String()),
      },
    ),
    atomicIncrement: writes(
      'Adds `delta` (1) to a number, starting at 0. The time to live stays.',
      { ...Target, delta: optional(Type.Number()) },
      { value: Type.Number(), previous: Type.Number() },
      { needs: 'atomicIncrement' },
    ),
    compareAndSwap: writes(
      'Writes `newValue` if the value equals `expectedValue` as JSON; none or null also stands for no value. ' +
        'The time to live stays.',
      { ...Target, expectedValue: optional(Json), newValue: Json },
      { swapped: Type.Boolean(), actual: optional(Json) },
      { needs: 'compareAndSwap' },
    ),
  },
});

export function implementKv({ port, cursors }: Over<KvPort>): ImplementedSurface {
  return kvSurface.implement({
    async get(input, call) {
      const entry = await port.get(targetOf(input), call);
      if (entry === null) return {};
      return {
        value: entry.value,
        ...(entry.expiresAt !== null && { expiresAt: timestamp(entry.expiresAt) }),
      };
    },
    async put({ value, ttlSeconds, ...target }, call) {
      const expiresAt = ttlSeconds === undefined ? null : call.now + lifetimeMs(ttlSeconds);
      checkValue(value);
      return { ok: true, ...(await port.put({ ...targetOf(target), value, expiresAt }, call)) };
    },
    delete: (input, call) => port.delete(targetOf(input), call),
    async list({ namespace = '', prefix = '', ...asked }, call) {
      const { page, ...next } = await pageByKey(cursors, asked, {
        scope: [call.tenant, 'kv.list', namespace, prefix],
        list: (range) => port.list({ namespace, prefix, ...range }, call),
        keyOf: (key) => key,
      });
      return { entries: page.map((key) => ({ key })), ...next };
    },
    atomicIncrement: ({ delta = 1, ...target }, call) => port.increment({ ...targetOf(target), delta }, call),
    async compareAndSwap({ expectedValue: expected = null, newValue: value, ...target }, call) {
      checkValue(value);
      return port.compareAndSwap({ ...targetOf(target), expected, value }, call);
    },
  });
}

const timestamp = (ms: number): string => new Date(ms).toISOString();

function targetOf({ key, namespace = '' }: { key: string; namespace?: string }) {
  kvSurface.check('maxKeyBytes', Buffer.byteLength(key));
  return { key, namespace };
}

const checkValue = (value: unknown): void =>
  kvSurface.check('maxValueBytes', Buffer.byteLength(JSON.stringify(value)));

function lifetimeMs(ttlSeconds: number): number {
  kvSurface.check('maxTtlSeconds', ttlSeconds);
  return Math.ceil(ttlSeconds * 1_000);
}
