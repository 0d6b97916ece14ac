import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timeScale } from './time-scale.ts';

const HOUR = 3_600_000;

test('three hours of waiting are folded, and the seconds around them stay wide', () => {
  const work = [
    { from: 0, to: 2_000 },
    { from: 3 * HOUR, to: 3 * HOUR + 4_000 },
  ];
  const { pieces, x } = timeScale(work, { from: 0, to: 3 * HOUR + 4_000 });
  assert.deepEqual(
    pieces.map(({ isFolded }) => isFolded),
    [false, true, false],
  );
  assert.ok(x(2_000) > 0.3, 'two of six seconds of work');
  assert.ok(pieces[1]!.width < 0.1);
});

test('a run without a pause is shown as it was', () => {
  const { pieces, x } = timeScale([{ from: 0, to: 900 }], { from: 0, to: 1_000 });
  assert.equal(pieces.length, 1);
  assert.equal(x(500), 0.5);
});

test('pieces fill the axis, and later is never further left', () => {
  const time = fc.integer({ min: 0, max: 1e9 });
  const stretch = fc.tuple(time, time).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 20 }), fc.array(time), (work, times) => {
      const { pieces, x } = timeScale(work, { from: 0, to: 1e9 });
      const end = pieces.at(-1)!;
      assert.ok(Math.abs(end.x + end.width - 1) < 1e-9);
      const places = times.toSorted((a, b) => a - b).map(x);
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
    }),
  );
});
