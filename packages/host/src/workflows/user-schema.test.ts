import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import { compileUserSchema } from './user-schema.ts';

const META = 'https://json-schema.org/draft/2020-12/schema';

function check(schema: JsonObject, value: Json): unknown {
  const compiled = compileUserSchema(schema);
  return typeof compiled === 'string' ? compiled : compiled(value)?.message;
}

test('a value outside of an enum is told what is in it', () => {
  assert.equal(check({ enum: ['red', 5, null] }, 'blue'), 'must be one of red, 5, null');
  assert.equal(check({ const: 'red' }, 'blue'), 'must be red');
  const many = Array.from({ length: 200 }, (_, n) => `c${n}`.repeat(100));
  assert.ok(String(check({ enum: many }, 'x')).length < 4_000);
});

test('schemas know each other by nothing but what they say, and all know the schema of schemas', () => {
  assert.equal(check({ $id: 'mine', type: 'string' }, 'x'), undefined);
  assert.equal(check({ $id: 'mine', type: 'number' }, 'x'), 'must be number');
  assert.match(String(check({ $ref: 'mine' }, 'x')), /point inside/);
  for (let round = 0; round < 2; round++) {
    assert.match(String(check({ type: 'strng' }, 'x')), /schema is invalid/);
    assert.equal(check({ $schema: META, type: 'string' }, 'x'), undefined);
    assert.match(String(check({ $id: META, type: 'string' }, 'x')), /already exists/);
  }
});
