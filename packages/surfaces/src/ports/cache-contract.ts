/** What every backend of the cache port must do: I1 to I4. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ENTRY_OVERHEAD_BYTES } from '../capabilities/kv/entry-bytes.ts';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import type { CachePort } from './cache.ts';
import { cacheSurfaceTests } from './cache-surface-contract.ts';

export interface OpenedCache {
  /** With room for so many bytes for each tenant. */
  portOf(capacityBytes: number): CachePort;
  close(): Promise<void>;
}

const CAPACITY = 3_000;
/** Of a text as JSON. */
const QUOTES = 2;

const END = NOW + 60_000;
const at = (key: string, namespace = '') => ({ namespace, key });

export function cacheContract(name: string, open: () => Promise<OpenedCache>): void {
  describe(`cache port: ${name}`, () => {
    let opened: OpenedCache | null = null;
    let small: CachePort | null = null;
    const portOf = (capacityBytes: number): CachePort =>
      opened?.portOf(capacityBytes) ?? assert.fail('the port is not open');
    const port = () => small ?? assert.fail('the port is not open');
    before(async () => {
      opened = await open();
      small = opened.portOf(CAPACITY);
    });
    after(() => opened?.close());
    values(port);
    room(port);
    largeNamespace(portOf);
    manyExpired(portOf);
    cacheSurfaceTests(() => portOf(1_000_000));
  });
}

function values(port: () => CachePort): void {
  test('keeps until the millisecond, and says since when', async () => {
    const tenant = freshTenant();
    assert.equal(await port().get(at('a'), read(tenant)), null);
    await port().put({ ...at('a'), value: { n: null }, expiresAt: END }, write(tenant));
    const entry = { value: { n: null }, storedAt: NOW, expiresAt: END };
    assert.deepEqual(await port().get(at('a'), read(tenant, END - 1)), entry);
    assert.equal(await port().get(at('a'), read(tenant, END)), null);
    assert.deepEqual(await port().evict(at('a'), write(tenant, { now: END })), { evicted: 0 });
  });

  test('I1: tenants and namespaces share nothing', async () => {
    const [ours, theirs] = [freshTenant(), freshTenant()];
    for (const namespace of ['', 'n'])
      for (const key of ['a', 'b'])
        await port().put({ namespace, key, value: namespace, expiresAt: END }, write(ours));
    assert.equal(await port().get(at('a'), read(theirs)), null);
    assert.deepEqual(await port().evict({ namespace: '', key: null }, write(theirs)), { evicted: 0 });
    assert.deepEqual(await port().evict({ namespace: '', key: null }, write(ours)), { evicted: 2 });
    assert.equal((await port().get(at('a', 'n'), read(ours)))?.value, 'n');
  });

  test('I4: one invocation evicts once and is answered alike', async () => {
    const tenant = freshTenant();
    await port().put({ ...at('a'), value: 1, expiresAt: END }, write(tenant));
    const call = write(tenant);
    assert.deepEqual(await port().evict(at('a'), call), { evicted: 1 });
    await port().put({ ...at('a'), value: 2, expiresAt: END }, write(tenant));
    assert.deepEqual(await port().evict(at('a'), call), { evicted: 1 });
    assert.equal((await port().get(at('a'), read(tenant)))?.value, 2, 'the second was not evicted');
  });
}

function room(port: () => CachePort): void {
  const third = 'x'.repeat(CAPACITY / 3 - ENTRY_OVERHEAD_BYTES - QUOTES - 1);
  const put = (tenant: string, key: string, now: number) =>
    port().put({ ...at(key), value: third, expiresAt: END }, write(tenant, { now }));
  const present = async (tenant: string, keys: string): Promise<string> => {
    const found = await Promise.all([...keys].map((key) => port().get(at(key), read(tenant, NOW))));
    return [...keys].filter((_, index) => found[index] !== null).join('');
  };

  test('I3: what was used longest ago leaves first, and only that of the same tenant', async () => {
    const [tenant, other] = [freshTenant(), freshTenant()];
    await put(other, 'a', NOW - 9);
    for (const [index, key] of ['a', 'b', 'c'].entries()) await put(tenant, key, NOW - 8 + index);
    await port().get(at('a'), read(tenant, NOW - 1));
    await put(tenant, 'd', NOW);
    assert.equal(await present(tenant, 'abcd'), 'acd');
    assert.equal(await present(other, 'a'), 'a');
  });

  test('I3: what has expired leaves before what is still good', async () => {
    const tenant = freshTenant();
    await put(tenant, 'a', NOW - 8);
    await port().put({ ...at('b'), value: third, expiresAt: NOW - 1 }, write(tenant, { now: NOW - 2 }));
    await put(tenant, 'c', NOW - 4);
    await put(tenant, 'd', NOW);
    assert.equal(await present(tenant, 'abcd'), 'acd');
  });

  test('I3: namespace, key, JSON and an overhead count, to the byte', async () => {
    const half = 'x'.repeat(CAPACITY / 2 - ENTRY_OVERHEAD_BYTES - 2 - QUOTES - 1);
    for (const [second, isThere] of [[half, true] as const, [`${half}x`, false] as const]) {
      const tenant = freshTenant();
      for (const [index, value] of [half, second].entries())
        await port().put(
          { namespace: 'é', key: String(index), value, expiresAt: END },
          write(tenant, { now: NOW + index }),
        );
      assert.equal((await port().get(at('0', 'é'), read(tenant))) !== null, isThere);
    }
  });

  test('I3: puts that come at once keep to the room', async () => {
    const tenant = freshTenant();
    const keys = '0123456789';
    await Promise.all([...keys].map((key) => put(tenant, key, NOW)));
    assert.equal((await present(tenant, keys)).length, 3);
  });
}

function largeNamespace(portOf: (capacityBytes: number) => CachePort): void {
  test('I4: a large namespace is evicted whole, those that have expired not counted, and once', async () => {
    const [tenant, many] = [freshTenant(), 1_500];
    const port = portOf(10_000_000);
    const put = (key: string, namespace: string, expiresAt = END) =>
      port.put({ ...at(key, namespace), value: 1, expiresAt }, write(tenant));
    const keys = Array.from({ length: many }, (_, index) => String(index));
    await Promise.all(keys.map((key, index) => put(key, 'large', index < 10 ? NOW + 1 : END)));
    await put('a', 'other');
    const call = write(tenant, { now: NOW + 1 });
    const all = { namespace: 'large', key: null };
    assert.deepEqual(await port.evict(all, call), { evicted: many - 10 });
    const left = await Promise.all(keys.map((key) => port.get(at(key, 'large'), read(tenant, NOW + 1))));
    assert.ok(left.every((entry) => entry === null));
    await Promise.all(keys.map((key) => put(key, 'large')));
    assert.deepEqual(await port.evict(all, call), { evicted: many - 10 });
    assert.ok(await port.get(at('1499', 'large'), read(tenant)), 'what came later stays');
    assert.ok(await port.get(at('a', 'other'), read(tenant)));
  });
}

function manyExpired(portOf: (capacityBytes: number) => CachePort): void {
  test('I3: of many that have expired, so many leave as room is needed', async () => {
    const many = 600;
    const tenant = freshTenant();
    const size = ENTRY_OVERHEAD_BYTES + 4 + QUOTES;
    const port = portOf(many * size + 1_000);
    const put = (key: string, value: string, expiresAt: number, now = NOW) =>
      port.put({ ...at(key), value, expiresAt }, write(tenant, { now }));
    const keys = Array.from({ length: many }, (_, index) => `k${String(index).padStart(3, '0')}`);
    await Promise.all(keys.map((key) => put(key, '', NOW + 1)));
    await put('good', '', END, NOW - 1);
    const rest = many * size + 1_000 - size - ENTRY_OVERHEAD_BYTES - QUOTES - 1;
    await put('z', 'x'.repeat(rest), END, NOW + 1);
    assert.ok(await port.get(at('good'), read(tenant, NOW + 1)), 'used longest ago, and still good');
    assert.ok(await port.get(at('z'), read(tenant, NOW + 1)));
  });
}
