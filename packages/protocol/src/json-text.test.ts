import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readJsonText } from './json-text.ts';

const REFUSED: readonly [string, string][] = [
  ['12345678901234567890', ''],
  ['{"a":[1,{"b/c":-9007199254740993}]}', '/a/1/b~1c'],
  ['{"a":1,"b":2,"a":3}', '/a'],
  [String.raw`[{"a\"":{},"x":"\\","a\u0022":1}]`, '/0/a"'],
  ['{"a":{"b":1,"b":1}}', '/a/b'],
];
for (const [text, path] of REFUSED)
  test(`${text} is found at ${path}`, () => assert.equal(readJsonText(text).problem?.path, path));

const TAKEN = [
  '9007199254740992',
  '-9007199254740991',
  '100000000000000000000',
  '1.2345678901234567890',
  '12345678901234567890.5',
  '{"a":{"a":{"a":"12345678901234567890"}},"b":{"a":1}}',
  '[{"a":1},{"a":1}]',
  String.raw`{"a":"\\","b":"\"a\":1,","c\"":"a","c":1}`,
  '0',
  '""',
];
for (const text of TAKEN)
  test(`${text} is taken`, () => assert.deepEqual(readJsonText(text), { value: JSON.parse(text) }));

test('whatever is written by JSON.stringify is taken', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.equal(readJsonText(text).problem, undefined);
    }),
  );
});
