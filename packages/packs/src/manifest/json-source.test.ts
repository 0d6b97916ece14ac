import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { readJsonSource } from './json-source.ts';

const read = (text: string) => readJsonSource(text, { depthMax: 32 });

describe('JSON with positions', () => {
  test('reads what JSON.parse reads, and knows where each value stands', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const source = read(text);
        if (text.includes('"__proto__"')) return;
        assert.ok(source.kind === 'json', 'message' in source ? source.message : '');
        assert.deepEqual(source.value, JSON.parse(text));
        assert.deepEqual(source.positionOf(''), { line: 1, column: 1 });
      }),
    );
  });

  test('refuses what JSON.parse refuses, and never fails otherwise', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:0123.eE+-\\utrfalsn \n') }), (text) => {
        const source = read(text);
        if (source.kind === 'json') assert.deepEqual(source.value, JSON.parse(text));
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  test('positions are lines and columns from 1, and what is missing stands at its parent', () => {
    const source = read('{\n  "a": [1,\n    {"b/c": true}]\n}');
    assert.ok(source.kind === 'json');
    assert.deepEqual(source.positionOf('/a/1/b~1c'), { line: 3, column: 13 });
    assert.deepEqual(source.positionOf('/a/0'), { line: 2, column: 9 });
    assert.deepEqual(source.positionOf('/a/1/gone/deeper'), { line: 3, column: 5 });
  });

  for (const [name, text, line, column] of [
    ['a key that comes twice', '{"a": 1,\n "a": 2}', 2, 2],
    ['a key that sets a prototype', '{"__proto__": {}}', 1, 2],
    ['a missing comma', '{"a": 1\n "b": 2}', 2, 2],
    ['an open string', '{"a": "x', 1, 7],
    ['a line break in a string', '["a\nb"]', 1, 2],
    ['something after the end', '{} x', 1, 4],
    ['nothing', '', 1, 1],
    ['a leading zero', '[01]', 1, 3],
  ] as const)
    test(`refuses ${name} where it stands`, () => {
      const source = read(text);
      assert.ok(source.kind === 'broken');
      assert.deepEqual(source.position, { line, column });
    });

  test('refuses nesting beyond the limit without a deep stack', () => {
    const source = read('['.repeat(100_000));
    assert.equal(source.kind, 'broken');
  });
});
