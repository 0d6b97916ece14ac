import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTime, stopwatch } from './deadline.ts';

test('a call is late when its time is over, and what comes of it later is nobody’s', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const work = Promise.withResolvers<string>();
  let ended = 0;
  const called = inTime(100, work.promise, () => new Error(`late ${++ended}`));
  t.mock.timers.tick(99);
  assert.equal(ended, 0);
  t.mock.timers.tick(1);
  await assert.rejects(called, /late 1/);
  work.reject(new Error('nobody hears this'));
});

test('a call that ends, however it does, leaves no timer behind', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late = () => assert.fail('it was in time');
  assert.equal(await inTime(100, Promise.resolve('done'), late), 'done');
  await assert.rejects(inTime(100, Promise.reject(new Error('refused')), late), /refused/);
  t.mock.timers.tick(1_000);
});

test('a stopwatch says when its time is over', (t) => {
  let now = 5;
  t.mock.method(performance, 'now', () => now);
  const isOver = stopwatch(10);
  now = 14;
  assert.equal(isOver(), false);
  now = 15;
  assert.equal(isOver(), true);
});
