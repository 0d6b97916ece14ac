import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { Lanes, type Next } from './lanes.ts';

const log = pino({ level: 'silent' });
const key = (webhookId: string, tenant = 'acme') => ({ tenant, ref: webhookId });
const IDLE: Next = { next: 'idle' };
const AGAIN: Next = { next: 'again' };

/** Lanes whose turns the test ends by hand. */
function driven(t: TestContext) {
  const open = new Map<string, (next: Next) => void>();
  const started: string[] = [];
  let at = 0;
  const lanes = new Lanes({
    noun: 'webhook',
    turn: ({ ref: webhookId }) => {
      assert.ok(!open.has(webhookId), 'two turns of one lane');
      started.push(webhookId);
      return new Promise((resolve) => open.set(webhookId, resolve));
    },
    now: () => at,
    log,
  });
  t.after(() => {
    for (const end of open.values()) end(IDLE);
    return lanes.stop();
  });
  return {
    lanes,
    started,
    pass: (ms: number) => {
      at += ms;
    },
    async end(webhookId: string, next: Next) {
      const end = open.get(webhookId) ?? assert.fail(`${webhookId} has no turn`);
      open.delete(webhookId);
      end(next);
      await new Promise(setImmediate);
    },
  };
}

test('sixteen lanes of a tenant have a turn at once, each one turn at a time', async (t) => {
  const { lanes, started, end } = driven(t);
  const ids = Array.from({ length: 20 }, (_, i) => `wh_${i}`);
  for (const id of [...ids, ...ids]) lanes.wake(key(id));
  assert.deepEqual(started, ids.slice(0, 16));
  await end('wh_0', AGAIN);
  assert.equal(started.at(-1), 'wh_16', 'who had a turn goes to the end of the line');
  for (const id of ids.slice(1, 5)) await end(id, IDLE);
  assert.deepEqual(started.slice(17, 21), ['wh_17', 'wh_18', 'wh_19', 'wh_0']);
});

test('however many lanes of a tenant wait, another tenant gets its turn at once', async (t) => {
  const { lanes, started, end } = driven(t);
  for (let i = 0; i < 100; i++) lanes.wake(key(`slow_${i}`));
  lanes.wake(key('quick', 'other'));
  assert.deepEqual([started.length, started.at(-1)], [17, 'quick']);
  await end('quick', AGAIN);
  assert.deepEqual([started.length, started.at(-1)], [18, 'quick']);
});

test('a wake during a turn is not lost', async (t) => {
  const { lanes, started, end } = driven(t);
  lanes.wake(key('a'));
  lanes.wake(key('a'));
  await end('a', IDLE);
  assert.deepEqual(started, ['a', 'a']);
  await end('a', IDLE);
  assert.deepEqual(started, ['a', 'a']);
  lanes.wake(key('a'));
  assert.deepEqual(started, ['a', 'a', 'a']);
});

test('a sleeping lane gets its turn at its time, or when it is woken', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { lanes, started, end, pass } = driven(t);
  lanes.wake(key('a'));
  lanes.wake(key('b'));
  await end('a', { next: 'sleep', until: 100 });
  await end('b', { next: 'sleep', until: 200 });
  lanes.wake(key('b'));
  assert.deepEqual(started, ['a', 'b', 'b']);
  pass(100);
  t.mock.timers.tick(100);
  assert.deepEqual(started, ['a', 'b', 'b', 'a']);
});

test('a turn that fails is tried again later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let turns = 0;
  let at = 0;
  const turn = async (): Promise<Next> => {
    if (++turns === 1) throw new Error('the store is away');
    return IDLE;
  };
  const lanes = new Lanes({ noun: 'webhook', turn, now: () => at, log });
  t.after(() => lanes.stop());
  lanes.wake(key('a'));
  await new Promise(setImmediate);
  at = 5_000;
  t.mock.timers.tick(5_000);
  await new Promise(setImmediate);
  assert.equal(turns, 2);
});

test('after the stop nothing begins, and what is under way is waited for', async (t) => {
  const { lanes, started, end } = driven(t);
  lanes.wake(key('a'));
  let isStopped = false;
  const stopping = lanes.stop().then(() => {
    isStopped = true;
  });
  lanes.wake(key('b'));
  await new Promise(setImmediate);
  assert.deepEqual([started, isStopped], [['a'], false]);
  await end('a', AGAIN);
  await stopping;
  assert.deepEqual(started, ['a']);
});
