/** `ctx.storage.kv`: keys and values with time to live, counters and compare-and-swap. */
import { isoTime } from '@gantry/protocol';
import { pageByKey } from '../../calls/cursor.ts';
import type { DataObject } from '../../calls/data.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import { isList, member, rename } from '../../calls/spelling.ts';
import { type Over, opening, quotaPort } from '../../open-port.ts';
import type { KvPort } from '../../ports/kv.ts';
import { embeddedKv } from '../../sqlite/kv.ts';
import { jsonBytes } from '../../text.ts';

const Target = { key: s.Key, namespace: s.optional(s.Namespace) };

const remainingMs = ({ expiresAt }: DataObject, now: number): number | null =>
  typeof expiresAt === 'string' ? Math.max(0, Date.parse(expiresAt) - now) : null;

/** Total of keys and values, per tenant. */
const LIMITS = { quotaBytes: 256 * 1_048_576 };

export const kvPort = quotaPort('kv', LIMITS, {
  embedded: ({ embedded }, limits) => embeddedKv(embedded, limits),
  postgres: async () => (await import('../../postgres/kv.ts')).postgresKv,
});

export const kvSurface = defineSurface({
  capability: 'kvStorage',
  spellings: [
    {
      call: 'get',
      gives: [
        member('found', 'whether there is a value', (value) => 'value' in value),
        member('ttlRemainingMs', 'null if it does not expire', (value, { now }) => remainingMs(value, now)),
      ],
    },
    { call: 'set', to: 'put' },
    { call: 'cas', to: 'compareAndSwap', takes: [rename({ expect: 'expectedValue', set: 'newValue' })] },
    {
      call: 'list',
      gives: [
        member('keys', 'the keys alone', ({ entries }) =>
          isList(entries) ? entries.map((entry) => (entry as { key: string }).key) : undefined,
        ),
      ],
    },
  ],
  summary: `A key-value store with time to live and atomic operations. Each tenant sees its own keys only. ${s.NAMESPACES} A node may write to it 100,000 times, as to every capability.`,
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
      value: s.optional(s.Json),
      expiresAt: s.optional(s.Timestamp),
    }),
    put: writes(
      'Stores a value, for `ttlSeconds` or permanently.',
      { ...Target, value: s.Json, ttlSeconds: s.optional(s.Seconds) },
      { ...s.Done, replaced: s.Flag },
    ),
    delete: writes('Removes a key.', Target, { deleted: s.Flag }),
    list: reads(
      `Keys in byte order, page by page. ${s.PAGES}`,
      { namespace: s.optional(s.Namespace), prefix: s.optional(s.Prefix), ...s.Paging },
      { entries: s.listOf({ key: s.Text }), ...s.Following },
    ),
    atomicIncrement: writes(
      'Adds `delta` (1) to a number, starting at 0. The time to live stays.',
      { ...Target, delta: s.optional(s.Amount) },
      { value: s.Amount, previous: s.Amount },
      { needs: 'atomicIncrement' },
    ),
    compareAndSwap: writes(
      'Writes `newValue` if the value equals `expectedValue` as JSON; none or null also stands for no value. ' +
        'The time to live stays.',
      { ...Target, expectedValue: s.optional(s.Json), newValue: s.Json },
      { swapped: s.Flag, actual: s.optional(s.Json) },
      { needs: 'compareAndSwap' },
    ),
  },
});

export function implementKv({ port, cursors }: Over<KvPort>): ImplementedSurface {
  return kvSurface.implement({
    async get(input, call) {
      const entry = await port.get(targetOf(input), call);
      if (entry === null) return {};
      const { value, expiresAt } = entry;
      return { value, ...(expiresAt !== null && { expiresAt: isoTime(expiresAt) }) };
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

function targetOf({ key, namespace = '' }: { key: string; namespace?: string }) {
  kvSurface.check('maxKeyBytes', Buffer.byteLength(key));
  return { key, namespace };
}

const checkValue = (value: unknown): void => kvSurface.check('maxValueBytes', jsonBytes(value));

function lifetimeMs(ttlSeconds: number): number {
  kvSurface.check('maxTtlSeconds', ttlSeconds);
  return Math.ceil(ttlSeconds * 1_000);
}
