import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@gantry/protocol';
import fc from 'fast-check';
import { canonicalJson } from './attestation.ts';

test('keys are sorted by UTF-16 code units, numbers and texts written as RFC 8785 says', () => {
  const value: Json = JSON.parse(
    '{"€":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew","1":"One","😀":"Emoji","\\u0080":"Control","ö":"o"}',
  );
  assert.deepEqual(
    [...canonicalJson(value).matchAll(/:"(.*?)"/g)].map(([, text]) => text),
    ['Carriage Return', 'One', 'Control', 'o', 'Euro Sign', 'Emoji', 'Hebrew'],
  );
  const numbers: Json = [
    JSON.parse('333333333.33333329'),
    1e30,
    4.5,
    2e-3,
    0.000000000000000000000000001,
    -0,
  ];
  assert.equal(canonicalJson(numbers), '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]');
  assert.equal(
    canonicalJson({ b: [true, null], a: '\u000f\n"\\' }),
    '{"a":"\\u000f\\n\\"\\\\","b":[true,null]}',
  );
});

test('any JSON comes back as it was, and the order of its keys does not matter', () => {
  const shuffled = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, item]) => [key, shuffled(item)]),
    );
  };
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      const value: Json = JSON.parse(text);
      assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(shuffled(value)), canonicalJson(value));
    }),
  );
});
