import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@gantry/protocol';
import fc from 'fast-check';
import { limitsText, schemaRows, typeText } from './schema-type.ts';

test('types in words', () => {
  const words: readonly [schema: Json, text: string][] = [
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ type: 'array', items: { type: 'number' } }, 'list of number'],
    [{ enum: ['a', 1] }, 'one of "a", 1'],
    [{ const: true }, 'always true'],
    [{ anyOf: [{ type: 'string' }, { type: 'object' }] }, 'string or object'],
    [{ properties: {} }, 'object'],
    [{ $ref: 'other.json' }, 'other.json'],
    [true, 'anything'],
    [{}, 'anything'],
  ];
  for (const [schema, text] of words) assert.equal(typeText(schema, schema), text);
});

test('bounds and defaults in words', () => {
  assert.equal(
    limitsText({ minLength: 1, maximum: 5, default: 'x', format: 'email' }),
    'format "email", not empty, up to 5, default "x"',
  );
});

test('members and theirs, with references inside the file', () => {
  const { rows } = schemaRows({
    required: ['who'],
    properties: {
      who: { $ref: '#/$defs/person' },
      all: { type: 'array', items: { $ref: '#/$defs/person' } },
    },
    $defs: { person: { type: 'object', properties: { name: { type: 'string', description: 'Its name.' } } } },
  });
  assert.deepEqual(
    rows.map(({ path, type, isRequired, description }) => [path, type, isRequired, description]),
    [
      ['who', 'object', true, ''],
      ['who.name', 'string', false, 'Its name.'],
      ['all', 'list of object', false, ''],
      ['all[].name', 'string', false, 'Its name.'],
    ],
  );
});

test('a schema that refers to itself ends', () => {
  const root = {
    properties: { next: { $ref: '#/$defs/a' } },
    $defs: { a: { $ref: '#/$defs/a', properties: {} } },
  };
  assert.ok(schemaRows(root).rows.length <= 100);
  const wide = {
    $defs: {
      a: {
        properties: Object.fromEntries(
          Array.from({ length: 90 }, (_, i) => [`p${i}`, { $ref: '#/$defs/a' }]),
        ),
      },
    },
    $ref: '#/$defs/a',
  };
  assert.deepEqual([schemaRows(wide).rows.length, schemaRows(wide).isCut], [100, true]);
});

test('any JSON can stand where a schema should', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const schema: Json = JSON.parse(JSON.stringify(value));
      schemaRows(schema);
      assert.equal(typeof typeText(schema, schema), 'string');
    }),
  );
});
