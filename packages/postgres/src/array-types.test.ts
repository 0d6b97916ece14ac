import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ARRAY_TYPES } from './array-types.ts';

test('texts and integers come back as they were written', () => {
  const { texts, integers } = ARRAY_TYPES;
  const text = fc.oneof(fc.string(), fc.constantFrom('', 'NULL', 'null', '"', '\\', '{', ',', '\n'));
  fc.assert(
    fc.property(fc.array(fc.option(text)), (values) => {
      assert.deepEqual(texts.parse(texts.serialize(values).replaceAll('null', 'NULL')), upper(values));
    }),
  );
  assert.deepEqual(integers.parse('{1,NULL,-3}'), [1, null, -3]);
  assert.deepEqual(texts.parse('{}'), []);
});

/** Only the word of the server's own is in capitals. */
const upper = (values: readonly (string | null)[]): readonly (string | null)[] =>
  values.map((value) => value?.replaceAll('null', 'NULL') ?? null);
