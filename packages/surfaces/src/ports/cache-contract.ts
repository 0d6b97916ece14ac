/** What every backend of the cache port must do, through the port: I1 to I4. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import type { CachePort } from './cache.ts';

export interface OpenedCache {
  readonly port: CachePort;
  close(): Promise<void>;
}

export const CACHE_CONTRACT_CAPACITY = 1_000;

const END = NOW + 60_000;
const at = (key: string, namespace = '') => ({ namespace, key });

/** `open` makes a port with room for `CACHE_CONTRACT_CAPACITY` bytes for each tenant. */
export function cacheContract(name: string, open: () => Promise<OpenedCache>): void {
  describe(`cache port: ${name}`, () => {
    let opened: OpenedCache | null = null;
    const port = (): CachePort => opened?.port ?? assert.fail('the port is not open');
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    values(port);
    room(port);
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
  const third = 'x'.repeat(CACHE_CONTRACT_CAPACITY / 3 - 10);
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
}
