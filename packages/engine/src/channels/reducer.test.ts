import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '@gantry/protocol';
import fc from 'fast-check';
import { type Bounds, contentOf, emptyOf, isList, misfitOf, reduce, sizeOf } from './reducer.ts';

const REDUCERS = [
  'replace',
  'append',
  'merge',
  'counter',
  'votes',
  'feedback',
  'message',
  'vendor.acme.last',
];

/** Folds writes that come one millisecond after the other, as the engine stores them. */
function foldAll(reducer: string, writes: readonly Json[], bounds: Bounds = {}): Json | undefined {
  let value: Json | undefined;
  writes.forEach((write, at) => {
    const entry = bounds.ttlMs === undefined ? write : { value: write, _ts: at };
    value = reduce(reducer, value, entry, at, bounds);
  });
  return value;
}

describe('each reducer', () => {
  const table: [string, Json[], Json, Bounds?][] = [
    ['replace', [1, { a: 2 }, null], null],
    ['vendor.acme.last', [1, 2], 2],
    ['append', [1, [2], null], [1, [2], null]],
    ['append', [1, 2, 3], [2, 3], { maxSize: 2 }],
    ['merge', [{ a: 1, b: { c: 1 } }, { b: { d: 2 } }], { a: 1, b: { d: 2 } }],
    ['counter', [3, -5, 0.5], -1.5],
    [
      'votes',
      [{ userId: 'u' }, { userId: 'v' }, { userId: 'u', action: 'reject' }],
      [{ userId: 'v' }, { userId: 'u', action: 'reject' }],
    ],
    [
      'votes',
      [
        { voter: 'u', vote: 1 },
        { voter: 'u', vote: 2 },
      ],
      [{ voter: 'u', vote: 2 }],
    ],
    ['feedback', [{ feedback: 'a' }, { feedback: 'a' }], [{ feedback: 'a' }, { feedback: 'a' }]],
    [
      'message',
      [{ messageId: '1' }, { messageId: '2' }, { messageId: '1', content: 'x' }],
      [{ messageId: '1' }, { messageId: '2' }],
    ],
    [
      'append',
      ['a', 'b', 'c', 'd'],
      [
        { value: 'c', _ts: 2 },
        { value: 'd', _ts: 3 },
      ],
      { ttlMs: 1 },
    ],
    ['append', ['a', 'b', 'c'], [{ value: 'c', _ts: 2 }], { ttlMs: 2, maxSize: 1 }],
    [
      'votes',
      [{ userId: 'u' }, { userId: 'u', action: 'x' }],
      [{ value: { userId: 'u', action: 'x' }, _ts: 1 }],
      { ttlMs: 9 },
    ],
  ];
  for (const [reducer, writes, value, bounds] of table)
    test(`${reducer} of ${JSON.stringify(writes)} ${bounds ? JSON.stringify(bounds) : ''}`, () => {
      assert.deepEqual(foldAll(reducer, writes, bounds), value);
    });
});

test('what a reducer cannot take', () => {
  const refused: [string, Json][] = [
    ['merge', [1]],
    ['merge', null],
    ['counter', '1'],
    ['votes', { action: 'accept' }],
    ['votes', { userId: '' }],
    ['feedback', 'text'],
    ['message', { content: 'x' }],
    ['message', { messageId: 7 }],
  ];
  for (const [reducer, value] of refused) assert.ok(misfitOf(reducer, undefined, value), reducer);
  assert.ok(misfitOf('counter', Number.MAX_VALUE, Number.MAX_VALUE), 'no number is infinite');
  for (const reducer of ['replace', 'append', 'vendor.acme.last'])
    assert.equal(misfitOf(reducer, undefined, null), undefined);
});

const json = fc.jsonValue() as fc.Arbitrary<Json>;
const reducers = fc.constantFrom(...REDUCERS);
const votes = fc.array(fc.record({ userId: fc.constantFrom('a', 'b', 'c'), action: fc.string() }), {
  maxLength: 20,
});

describe('any writes', () => {
  test('nothing makes a reducer throw, change what it is given, or leave its kind of value', () => {
    fc.assert(
      fc.property(reducers, json, json, fc.nat(5), (reducer, current, write, maxSize) => {
        const before = JSON.stringify([current, write]);
        const next = reduce(reducer, current, write, 10, { ttlMs: 3, maxSize: maxSize + 1 });
        assert.equal(JSON.stringify([current, write]), before);
        if (isList(reducer)) assert.ok(Array.isArray(next));
        if (reducer === 'merge') assert.equal(typeof next, 'object');
        if (reducer === 'counter') assert.ok(Number.isFinite(next));
        const empty = emptyOf(reducer);
        if (empty !== undefined) assert.equal(Array.isArray(next), Array.isArray(empty));
      }),
    );
  });

  test('each voter has one vote, the last', () => {
    fc.assert(
      fc.property(votes, (writes) => {
        const folded = foldAll('votes', writes) ?? [];
        const last = new Map(writes.map((vote) => [vote.userId, vote]));
        assert.equal(sizeOf(folded), last.size);
        assert.deepEqual(new Set(folded as Json[]), new Set(last.values()));
      }),
    );
  });

  test('writes from many runs count the same in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 20 }), (writes) => {
        assert.equal(foldAll('counter', writes), foldAll('counter', writes.toReversed()));
        assert.deepEqual(
          new Set((foldAll('append', writes) ?? []) as Json[]),
          new Set((foldAll('append', writes.toReversed()) ?? []) as Json[]),
        );
      }),
    );
  });

  test('a list keeps the newest entries that are young enough', () => {
    fc.assert(
      fc.property(
        fc.array(json, { minLength: 1, maxLength: 30 }),
        fc.nat(9),
        fc.integer({ min: 1, max: 9 }),
        (writes, ttlMs, maxSize) => {
          const kept = foldAll('append', writes, { ttlMs, maxSize }) as Json[];
          const expected = writes.slice(-Math.min(maxSize, ttlMs + 1));
          assert.deepEqual(
            kept.map((entry) => contentOf(entry, { ttlMs })),
            expected,
          );
        },
      ),
    );
  });

  test('a message that is written again changes nothing', () => {
    const ids = fc.array(fc.record({ messageId: fc.constantFrom('1', '2', '3') }), { maxLength: 12 });
    fc.assert(
      fc.property(ids, (writes) => {
        assert.deepEqual(foldAll('message', [...writes, ...writes]), foldAll('message', writes));
      }),
    );
  });
});
