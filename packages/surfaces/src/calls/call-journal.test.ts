import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { callGateOf, nodeOf } from '../testing/test-call-gate.ts';
import { noteWrite } from './call-journal.ts';
import { defineSurface } from './define-surface.ts';
import type { WriteCall } from './surface-call.ts';

test('a method that makes two writes in one call fails, since one record would answer for both', async () => {
  const pairs = defineSurface({
    capability: 'pairs',
    aliases: [],
    path: 'pairs',
    summary: 'Two values.',
    journal: 'own',
    limits: {},
    errors: [],
    methods: {
      put: { effect: 'write', summary: 'Puts both.', input: Type.Object({}), output: Type.Null() },
    },
  });
  const put = async (_input: object, { invocation }: WriteCall) => {
    for (const _ of ['a', 'b']) noteWrite(invocation);
    return null;
  };
  const world = callGateOf([pairs.implement({ put })]);
  await assert.rejects(nodeOf(world)('pairs.put', {}), { code: 'internal_error' });
  assert.match(String(world.reports[0]?.fault), /pairs\.put makes a second write in one call/);
});
