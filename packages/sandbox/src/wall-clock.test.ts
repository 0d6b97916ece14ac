import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WallClock } from './wall-clock.ts';

test('time stands still while others take theirs, and goes on after the last of them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const pass = (ms: number): void => {
    now += ms;
    t.mock.timers.tick(ms);
  };
  let isOver = false;
  const clock = new WallClock(100, () => {
    isOver = true;
  });
  pass(60);
  const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const both = [clock.untimed(() => one.promise), clock.untimed(() => two.promise)];
  pass(500);
  one.resolve();
  await both[0];
  pass(500);
  two.resolve();
  await both[1];
  pass(39);
  assert.equal(isOver, false);
  pass(1);
  assert.equal(isOver, true);
  clock.end();
});
