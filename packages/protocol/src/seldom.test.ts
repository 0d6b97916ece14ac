import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Seldom } from './seldom.ts';

test('each key is told once in a while, with how many were not', () => {
  let now = 0;
  const seldom = new Seldom({ now: () => now, everyMs: 1_000 });
  assert.deepEqual(
    ['a', 'a', 'a', 'b'].map((key) => seldom.ask(key)),
    [0, null, null, 0],
  );
  now = 1_000;
  assert.deepEqual(
    ['a', 'b', 'a'].map((key) => seldom.ask(key)),
    [2, 0, null],
  );
});

test('of more keys than it keeps, it forgets those that were told first', () => {
  const seldom = new Seldom({ now: () => 0, everyMs: 1_000 });
  for (let key = 0; key <= 1_000; key++) seldom.ask(`${key}`);
  assert.deepEqual(
    ['1', '1000', '0'].map((key) => seldom.ask(key)),
    [null, null, 0],
  );
});
