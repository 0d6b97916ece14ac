import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, NESTING_MAX, nestingDepth, OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import { parseBody } from './body.ts';

const isRefusal = (error: unknown): boolean =>
  error instanceof OpenwopError && error.code === 'validation_error';

function depthOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('the scan finds the depth that parsing would', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const parsed: Json = JSON.parse(JSON.stringify(value));
      assert.equal(nestingDepth(JSON.stringify(parsed), 100), depthOf(parsed));
    }),
  );
});

test('brackets and quotes inside text do not count', () => {
  assert.equal(nestingDepth(String.raw`{"a":"[[[{{{\"[\\"}`, 100), 1);
});

test('nesting is taken up to the limit and refused past it', () => {
  const nested = (depth: number): Buffer => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  assert.ok(Array.isArray(parseBody(nested(NESTING_MAX))));
  assert.throws(() => parseBody(nested(NESTING_MAX + 1)), isRefusal);
  assert.throws(() => parseBody(nested(400_000)), isRefusal);
});

test('any JSON comes back as it was sent', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('__proto__') && !text.includes('\\u'));
      assert.deepEqual(parseBody(Buffer.from(text)), JSON.parse(text));
    }),
  );
});

test('an empty body is no body', () => {
  assert.equal(parseBody(Buffer.alloc(0)), undefined);
});

for (const [name, body] of [
  ['broken JSON', '{"a":'],
  ['a __proto__ member', '{"a":[{"__proto__":{"b":1}}]}'],
  ['an escaped __proto__ member', String.raw`{"\u005f_proto__":{"b":1}}`],
  ['NUL in text', String.raw`{"a":"\u0000"}`],
  ['half a surrogate pair in a name', String.raw`{"\ud800":1}`],
  ['a number past all bounds', '{"a":[1e999]}'],
  ['a number of too many digits', `[-${'9'.repeat(400)}]`],
  ['an integer that would be rounded', '{"a":[12345678901234567890]}'],
  ['a member that comes twice', '{"a":1,"a":2}'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
] as const) {
  test(`${name} is refused`, () => {
    assert.throws(() => parseBody(Buffer.from(body)), isRefusal);
  });
}

test('text that only mentions __proto__, or a whole surrogate pair, is fine', () => {
  assert.deepEqual(parseBody(Buffer.from('{"a":"__proto__","b":1e300}')), { a: '__proto__', b: 1e300 });
  assert.deepEqual(parseBody(Buffer.from(String.raw`{"a":"\ud83d\ude00"}`)), { a: '😀' });
});
