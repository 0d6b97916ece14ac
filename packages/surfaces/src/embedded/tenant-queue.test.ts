import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TenantQueue } from './tenant-queue.ts';

const everyone = (): boolean => true;

test('tenants take turns, each in its own order', () => {
  const queue = new TenantQueue<string>({ shareMax: 10 });
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) assert.ok(queue.push(item[0]!, item));
  assert.deepEqual(
    Array.from({ length: 7 }, () => queue.next(everyone)),
    ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', undefined],
  );
});

test('who is at work is passed over, and keeps its turn', () => {
  const queue = new TenantQueue<string>({ shareMax: 10 });
  for (const item of ['a1', 'b1', 'b2']) queue.push(item[0]!, item);
  assert.equal(
    queue.next((tenant) => tenant !== 'a'),
    'b1',
  );
  assert.deepEqual([queue.next(everyone), queue.next((tenant) => tenant === 'c')], ['a1', undefined]);
});

test('a tenant has its share of places, and what is over leaves', () => {
  const queue = new TenantQueue<number>({ shareMax: 2 });
  assert.deepEqual(
    [1, 2, 3].map((item) => queue.push('a', item)),
    [true, true, false],
  );
  assert.ok(queue.push('b', 2));
  assert.deepEqual([queue.takeWhile((item) => item < 2), queue.size], [[1], 2]);
  assert.ok(queue.push('a', 4));
  assert.deepEqual([queue.takeWhile(() => true), queue.size], [[2, 4, 2], 0]);
});

test('everything that was let in comes out once, and nobody waits for more than one turn of each other', () => {
  const arrivals = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 });
  fc.assert(
    fc.property(arrivals, (tenants) => {
      const queue = new TenantQueue<string>({ shareMax: 40 });
      for (const tenant of tenants) queue.push(tenant, tenant);
      const served: string[] = [];
      for (let item = queue.next(everyone); item !== undefined; item = queue.next(everyone))
        served.push(item);
      assert.deepEqual(served.toSorted(), tenants.toSorted());
      for (const tenant of new Set(tenants)) {
        const turns = served.flatMap((each, at) => (each === tenant ? [at] : []));
        for (const [index, at] of turns.entries()) assert.ok(at - (turns[index - 1] ?? -1) <= 3);
      }
    }),
  );
});
