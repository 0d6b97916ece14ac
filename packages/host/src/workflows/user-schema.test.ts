import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import { compileUserSchema } from './user-schema.ts';

const META = 'https://json-schema.org/draft/2020-12/schema';

function check(schema: JsonObject, value: Json): unknown {
  const compiled = compileUserSchema(schema);
  return typeof compiled === 'string' ? compiled : compiled(value)?.message;
}

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
