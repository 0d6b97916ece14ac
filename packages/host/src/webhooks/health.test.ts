import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ATTEMPTS_MAX, retryDelayMs } from '../deliveries/retry.ts';
import { afterFailure, afterSuccess, circuitOf, HEALTHY, type Health, isGivenUp } from './health.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const failing = (times: number, everyMs: number): Health => {
  let health = HEALTHY;
  for (let i = 0; i < times; i++) health = afterFailure(health, i * everyMs);
  return health;
};

test('the circuit opens at the fourth failure in a row, for an hour', () => {
  assert.equal(circuitOf(failing(3, 1), 2), 'closed');
  const open = failing(4, 1);
  assert.equal(circuitOf(open, 3 + HOUR - 1), 'open');
  assert.equal(circuitOf(open, 3 + HOUR), 'half-open');
  assert.equal(circuitOf(afterFailure(open, 3 + HOUR), 3 + 2 * HOUR - 1), 'open');
  assert.equal(circuitOf(afterSuccess(open), 3), 'closed');
});

test('a success between failures keeps the circuit closed but not the subscription alive', () => {
  let health = HEALTHY;
  for (let i = 0; i < 100; i++) {
    assert.equal(isGivenUp(health, i), false);
    health = afterSuccess(afterFailure(health, i));
    assert.equal(circuitOf(health, i), 'closed');
  }
  assert.equal(isGivenUp(health, 100), true);
});

test('failures older than seven days do not count', () => {
  assert.equal(isGivenUp(failing(1_000, 2 * HOUR), 999 * 2 * HOUR), false);
  assert.equal(isGivenUp(failing(1_000, HOUR), 999 * HOUR), true);
});

test('health stays small whatever happens', () => {
  const steps = fc.array(fc.record({ ok: fc.boolean(), ms: fc.nat(DAY) }), { maxLength: 300 });
  fc.assert(
    fc.property(steps, (list) => {
      let health = HEALTHY;
      let now = 0;
      for (const { ok, ms } of list) {
        now += ms;
        health = ok ? afterSuccess(health) : afterFailure(health, now);
        assert.ok(health.failures.length <= 100);
        assert.equal(health.openUntil !== null, health.consecutiveFailures >= 4);
      }
    }),
  );
});

test('the delays grow and end after about a day', () => {
  let total = 0;
  for (let attempts = 1; attempts < ATTEMPTS_MAX; attempts++) {
    const longest = retryDelayMs(attempts, 1) ?? assert.fail();
    const shortest = retryDelayMs(attempts, 0) ?? assert.fail();
    assert.ok(shortest < longest);
    assert.ok(longest < (retryDelayMs(attempts + 1, 0) ?? Number.POSITIVE_INFINITY));
    total += retryDelayMs(attempts, 0.5) ?? 0;
  }
  assert.ok(total > 20 * HOUR && total < 28 * HOUR);
  assert.equal(retryDelayMs(ATTEMPTS_MAX, 0.5), null);
});
