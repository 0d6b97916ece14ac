import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@gantry/protocol';
import fc from 'fast-check';
import { Check } from 'typebox/schema';
import { sampleFor, sampleOf } from '../scripts/sweep-sample.ts';

test('a sample fits the schema that it is made from', () => {
  const leaf = fc.constantFrom<Json>(
    { type: 'string', minLength: 9 },
    { type: 'string', maxLength: 2 },
    { type: 'integer', minimum: 7 },
    { type: ['null', 'boolean'] },
    { enum: ['a', 'b'] },
    { const: 4 },
    { type: 'array', minItems: 2, items: { type: 'string' } },
    { oneOf: [{ type: 'number' }] },
  );
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), leaf, { maxKeys: 6 }), (properties) => {
      const schema = { type: 'object', properties, required: Object.keys(properties) };
      assert.ok(Check(schema, sampleOf(schema)), JSON.stringify(sampleOf(schema)));
    }),
  );
});

test('what says nothing gives nothing, and what never ends gives something', () => {
  assert.deepEqual(sampleFor(undefined), {});
  assert.deepEqual(sampleFor(Buffer.from('true')), {});
  const deep = Array.from({ length: 50 }).reduce<Json>((inner) => ({ allOf: [inner] }), { type: 'string' });
  assert.deepEqual(sampleOf(deep), {});
  assert.deepEqual(sampleOf({ type: 'array', minItems: 1e9, items: { const: 1 } }), Array(100).fill(1));
});
