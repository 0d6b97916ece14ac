/** What entries take of the room of their tenant, and what happens when there is none left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENTRY_OVERHEAD_BYTES } from '../capabilities/kv/entry-bytes.ts';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import type { KvPort } from './kv.ts';

const QUOTA = 8_192;
const END = NOW + 1_000;
const refused = { code: 'kv_quota_exhausted' };
/** Of a text as JSON. */
const QUOTES = 2;

const entry = (key: string, value: string, expiresAt: number | null = null, namespace = '') => ({
  namespace,
  key,
  value,
  expiresAt,
});

/** Text that with a key of one character fills so many bytes. */
const filling = (bytes: number): string => 'x'.repeat(bytes - ENTRY_OVERHEAD_BYTES - QUOTES - 1);

export function kvRoomTests(portOf: (quotaBytes: number) => KvPort): void {
  const port = () => portOf(QUOTA);
  measure(port);
  makingRoom(port);
  atOnce(port);
  manyExpired(portOf);
}

function measure(port: () => KvPort): void {
  test('namespace, key, JSON and an overhead count, to the byte', async () => {
    const [namespace, key] = ['é'.repeat(20), 'ü'.repeat(10)];
    const room = QUOTA - ENTRY_OVERHEAD_BYTES - 40 - 20 - QUOTES;
    const tenant = freshTenant();
    const put = (length: number) =>
      port().put(entry(key, 'x'.repeat(length), null, namespace), write(tenant));
    await assert.rejects(put(room + 1), refused);
    await put(room);
    await assert.rejects(port().put(entry('', ''), write(tenant)), refused);
  });

  test('entries with nothing in them have an end, whatever their namespaces', async () => {
    const tenant = freshTenant();
    const puts = Array.from({ length: 40 }, (_, index) =>
      port().put(entry('', '', null, `n${index}`), write(tenant)),
    );
    const kept = (await Promise.allSettled(puts)).filter(({ status }) => status === 'fulfilled');
    assert.ok(kept.length < QUOTA / ENTRY_OVERHEAD_BYTES, String(kept.length));
  });

  test('what was counted is what is there, after any writes', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const size = fc.integer({ min: 0, max: 900 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(key, size), { maxLength: 12 }), async (puts) => {
        const tenant = freshTenant();
        for (const [name, length] of puts) await port().put(entry(name, 'x'.repeat(length)), write(tenant));
        for (const name of ['a', 'b', 'c']) await port().delete({ namespace: '', key: name }, write(tenant));
        await port().put(entry('k', filling(QUOTA)), write(tenant));
        await assert.rejects(port().put(entry('l', ''), write(tenant)), refused);
      }),
      { numRuns: 15 },
    );
  });
}

function makingRoom(port: () => KvPort): void {
  test('a full tenant is refused, another is not; deleting, shrinking and expiry make room', async () => {
    const tenant = freshTenant();
    const half = filling(QUOTA / 2);
    await port().put(entry('a', half), write(tenant));
    await port().put(entry('b', half, END), write(tenant));
    await assert.rejects(port().put(entry('c', half), write(tenant)), refused);
    await assert.rejects(port().put(entry('a', half + half), write(tenant)), refused);
    await port().put(entry('c', half), write(freshTenant()));
    await port().put(entry('c', half), write(tenant, { now: END }));
    await port().put(entry('a', 'small'), write(tenant));
    await port().put(entry('d', filling(QUOTA / 2 - 1_000)), write(tenant));
  });

  test('an expired entry makes no room for itself', async () => {
    const tenant = freshTenant();
    await port().put(entry('a', filling(QUOTA / 2), END), write(tenant));
    await port().put(entry('b', filling(QUOTA / 2)), write(tenant));
    const larger = entry('a', filling(QUOTA / 2 + 1));
    await assert.rejects(port().put(larger, write(tenant, { now: END })), refused);
    await port().put(entry('a', filling(QUOTA / 2)), write(tenant, { now: END }));
  });
}

function atOnce(port: () => KvPort): void {
  test('I4: puts that come at once keep to the room', async () => {
    const tenant = freshTenant();
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        port().put(entry(String(index), filling(QUOTA / 2 + 1)), write(tenant)),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 1);
    const all = { namespace: '', prefix: '', after: null, limit: 100 };
    assert.equal((await port().list(all, read(tenant))).length, 1);
  });
}

function manyExpired(portOf: (quotaBytes: number) => KvPort): void {
  test('many expired entries make room together, and are left where they could not', async () => {
    const many = 600;
    const tenant = freshTenant();
    const size = ENTRY_OVERHEAD_BYTES + 4 + QUOTES;
    const port = portOf(many * size + 1_000);
    const keys = Array.from({ length: many }, (_, index) => `k${String(index).padStart(3, '0')}`);
    await Promise.all(keys.map((key) => port.put(entry(key, '', END), write(tenant))));
    const large = (bytes: number, now: number) =>
      port.put(entry('z', filling(bytes)), write(tenant, { now }));
    await assert.rejects(large(many * size, END - 1), refused);
    await assert.rejects(large(many * size + 1_001, END), refused);
    await large(many * size + 1_000, END);
    await assert.rejects(port.put(entry('y', ''), write(tenant, { now: END })), refused);
  });
}
