/** Answers and schemas without end: a run ends with a code, and pack code goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { apiTest, assertError } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onEachDatabase } from '../testing/each-database.ts';
import { asked, outputsOf } from './testing/asking-pack.ts';

const RECURSIVE = { type: 'object', properties: { c: { type: 'array', items: { $ref: '#' } } } };
const nested = (levels: number): string => `${'{"c":['.repeat(levels)}${']}'.repeat(levels)}`;

const structured = (outputSchema: JsonObject) =>
  workflow('structured', [
    node('a', 'core.ai.structuredOutput', { provider: 'scripted', prompt: 'x', outputSchema }),
  ]);

onEachDatabase('an answer of any depth ends its run', async (t, settings) => {
  const api = await apiTest(t, { settings, workflows: [structured(RECURSIVE)] });
  const answered = async (levels: number) => {
    const script = Array(3).fill({ text: nested(levels) });
    return api.ended(await api.start('structured', { configurable: { ai: { script } } }));
  };
  assert.equal((await answered(20)).status, 'completed');
  for (const levels of [40, 1_000, 5_000, 20_000])
    assert.equal(Object((await answered(levels)).error).code, 'envelope_invalid', `${levels} levels`);
});

onEachDatabase('a schema whose reference leads back to itself is refused', async (t, settings) => {
  const api = await apiTest(t, { settings });
  const self = { $ref: '#' };
  const endless: JsonObject[] = [
    self,
    { allOf: [{ anyOf: [self] }] },
    { $defs: { a: { $ref: '#/$defs/b' }, b: { if: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' },
    { $defs: { a: { $anchor: 'here', not: { $ref: '#here' } } } },
    { properties: { a: { dependentSchemas: { b: { $ref: '#/properties/a' } } } } },
  ];
  for (const schema of endless) {
    const refused = await api.post('/v1/host/gantry/workflows?replace=true', structured(schema));
    assertError(refused, 400, 'validation_error');
    assert.match(refused.body, /leads back to itself without going into the value/, JSON.stringify(schema));
  }
  for (const schema of [RECURSIVE, { properties: { allOf: self, default: { not: self } }, default: self }])
    await api.registered(structured(schema));
});

test('pack code gets the text of a deep answer, and the reason why a schema is refused', async () => {
  const body = `
    const messages = [{ role: 'user', content: 'x' }];
    const ask = (responseSchema) => ctx.callAI({ messages, responseSchema });
    const deep = await ask(${JSON.stringify(RECURSIVE)});
    const refused = await ask({ $ref: '#' }).catch(({ code, message, details }) => ({ code, message, details }));
    return { chars: deep.text.length, hasData: 'data' in deep, refused };`;
  const script = [{ text: nested(5_000) }];
  const { chars, hasData, refused } = outputsOf(await asked(body, { provider: 'scripted', script }));
  assert.deepEqual([chars, hasData], [nested(5_000).length, false]);
  assert.equal(Object(refused).code, 'response_schema_invalid');
  assert.match(JSON.stringify(refused), /leads back to itself/);
});
