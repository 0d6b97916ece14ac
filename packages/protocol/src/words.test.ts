import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from './json.ts';
import { wordsOf } from './words.ts';

const CASES: [Json, string[]][] = [
  ['Pay bob', ['Pay bob']],
  [7, ['7']],
  [{}, ['(empty)']],
  [
    { seller: 'bob', amount: 500, urgent: true, note: null },
    ['seller: bob', 'amount: 500', 'urgent: yes', 'note: none'],
  ],
  [
    { bank: { iban: 'DE02' }, items: ['a', { b: 1 }] },
    ['bank:', '  iban: DE02', 'items:', '  - a', '  - b: 1'],
  ],
  [
    [{ a: 1, b: [2] }, 'one\ntwo', [[3]]],
    ['- a: 1', '  b:', '    - 2', '- one', '  two', '- - - 3'],
  ],
  [{ text: 'one\ntwo' }, ['text:', '  one', '  two']],
];

for (const [value, lines] of CASES)
  test(`${JSON.stringify(value)} in words`, () => assert.deepEqual(wordsOf(value), lines));

test('long and deep values are bounded', () => {
  const long = wordsOf(Array.from({ length: 500 }, (_, at) => at));
  assert.deepEqual([long.length, long.at(-1)], [201, '… (300 lines more)']);
  let deep: Json = 'end';
  for (let at = 0; at < 50; at++) deep = { deep };
  assert.ok(wordsOf(deep).length < 12);
});
