import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns, type Turns, type TurnsClock } from './turns.ts';

/** Rounds that the test begins, and time that only work takes. */
function manualClock() {
  let now = 0;
  let next: (() => void)[] = [];
  const clock: TurnsClock = { nowMs: () => now, nextRound: (run) => void next.push(run) };
  return {
    clock,
    spend: (ms: number) => {
      now += ms;
    },
    async round(): Promise<void> {
      const due = next;
      next = [];
      for (const run of due) {
        run();
        await new Promise(setImmediate);
      }
    },
  };
}

test('work is done at once while the round is young, and errors come out as they are', () => {
  const { clock } = manualClock();
  const turns = createTurns({ clock });
  assert.equal(
    turns.take('a', () => 7),
    7,
  );
  assert.throws(
    () =>
      turns.take('a', () => {
        throw new Error('broken');
      }),
    /broken/,
  );
  assert.equal(
    turns.take('b', () => 8),
    8,
  );
});

test('what does not fit into a round waits for the next, and tenants take turns', async () => {
  const { clock, spend, round } = manualClock();
  const turns = createTurns({ roundMs: 2, clock });
  const done: string[] = [];
  const ask = (name: string, ms: number) =>
    turns.take(name[0]!, () => {
      spend(ms);
      done.push(name);
    });
  for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(name, 5);
  void ask('b1', 1);
  void ask('b2', 1);
  assert.deepEqual(done, ['a1']);
  // Of two light ones the second ends the round
  const rounds = [['a2'], ['b1', 'a3'], ['b2', 'a4'], []];
  for (const expected of rounds) {
    done.length = 0;
    await round();
    assert.deepEqual(done, expected);
  }
});

test('work that fails when its turn comes rejects, and the next gets its turn', async () => {
  const { clock, spend, round } = manualClock();
  const turns = createTurns({ roundMs: 2, clock });
  turns.take('a', () => spend(3));
  const failing = turns.take('a', () => {
    throw new Error('broken');
  });
  const next = turns.take('b', () => 'fine');
  const failed = assert.rejects(Promise.resolve(failing), /broken/);
  await round();
  assert.equal(await next, 'fine');
  await failed;
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A source that always has more to read, `ms` each time, until it has read 500 times; counts how often it did. */
function source(shares: Turns, tenant: string, ms: number, counts: Map<string, number>): void {
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
  const shares = createTurns({ roundMs: 4, tenantMs: 2, restAfterMs: 5 });
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
  const shares = createTurns({ roundMs: 4, tenantMs: 2, restAfterMs: 5 });
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
  const shares = createTurns({ roundMs: 4, tenantMs: 2, restAfterMs: 5 });
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
