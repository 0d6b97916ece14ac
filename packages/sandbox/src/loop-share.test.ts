import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopShares } from './loop-share.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A source that always has more to read, `ms` each time, until it has read 500 times; counts how often it did. */
function source(shares: LoopShares, tenant: string, ms: number, counts: Map<string, number>): void {
  const read = (): void => {
    if ((counts.get(tenant) ?? 0) >= 500) return;
    while (shares.isFree(tenant)) {
      shares.spend(tenant, ms);
      counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    }
    shares.wait(tenant, read);
  };
  read();
}

test('a tenant has a part of each turn, and another its own', async () => {
  const shares = new LoopShares();
  const counts = new Map<string, number>();
  for (let sources = 0; sources < 16; sources++) source(shares, 'a', 0.5, counts);
  assert.equal(counts.get('a'), 4);
  assert.equal(shares.isFree('a'), false);
  assert.equal(shares.isFree('b'), true);
  for (let turns = 0; turns < 10; turns++) await turn();
  assert.ok(counts.get('a')! <= 4 * 11, `${counts.get('a')} reads in 11 turns`);
  assert.ok(counts.get('a')! > 4 * 5, 'goes on in every turn');
});

test('tenants that have much to read take turns', async () => {
  const shares = new LoopShares();
  const counts = new Map<string, number>();
  const tenants = ['a', 'b', 'c', 'd', 'e'];
  for (const tenant of tenants) source(shares, tenant, 2, counts);
  for (let turns = 0; turns < 50; turns++) await turn();
  const all = tenants.map((tenant) => counts.get(tenant) ?? 0);
  assert.ok(Math.max(...all) - Math.min(...all) <= 2, all.join());
  assert.ok(all.reduce((sum, count) => sum + count) <= 2 * 52, 'two of them in each turn');
});

test('who took far more than its part rests, and goes on afterwards', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const shares = new LoopShares();
  shares.spend('a', 102);
  let isServed = false;
  shares.wait('a', () => {
    isServed = true;
  });
  await turn();
  await turn();
  assert.deepEqual([isServed, shares.isFree('a'), shares.isFree('b')], [false, false, true]);
  t.mock.timers.tick(399);
  await turn();
  assert.equal(isServed, false);
  t.mock.timers.tick(1);
  await turn();
  assert.deepEqual([isServed, shares.isFree('a')], [true, true]);
});
