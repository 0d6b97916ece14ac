import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ago, agoChangesIn, cost, duration, shortId } from './format.ts';

const HOUR = 3_600_000;

test('durations have at most two units', () => {
  const shown = [0, 51, 999, 4_120, 59_999, 60_000, 125_000, 3 * HOUR, 3 * HOUR + 720_000, 50 * HOUR].map(
    duration,
  );
  assert.deepEqual(shown, ['0ms', '51ms', '999ms', '4.1s', '59.9s', '1m', '2m 5s', '3h', '3h 12m', '2d 2h']);
});

test('ages count down and up, and are renewed exactly when their text changes', () => {
  assert.equal(ago(0, 3 * HOUR), '3h ago');
  assert.equal(ago(40_000, 0), 'in 40s');
  const time = fc.integer({ min: 0, max: 90 * 24 * HOUR });
  const property = fc.property(time, time, (at, now) => {
    const ms = agoChangesIn(at, now);
    assert.ok(ms > 0);
    assert.equal(ago(at, now), ago(at, now + Math.max(0, ms - 1)));
  });
  fc.assert(property, {
    examples: [
      [17, 17],
      [1_017, 17],
      [17, 1_017],
    ],
  });
});

test('costs and ids are short', () => {
  assert.deepEqual([0, 0.004, 0.03, 1234.5].map(cost), ['$0.00', '<$0.01', '$0.03', '$1,234.50']);
  assert.equal(shortId('run_01m7gq90vvym6e2adc9249prdm'), 'run_01m7…prdm');
  assert.equal(shortId('nightly'), 'nightly');
});
