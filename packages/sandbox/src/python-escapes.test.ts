/** Hostile Python modules: each is stopped with the right code, and the sandbox serves the next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareOf } from '../../protocol/src/testing/full-form.ts';
import { PYTHON_ESCAPES } from './testing/escapes/python.ts';
import { type Corpus, runEscapes } from './testing/escapes/run.ts';
import { pythonPack, startPythonSandbox } from './testing/python.ts';

test('the corpus of Python modules', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const honest = await pythonPack(`return {'fine': True}`);
  const all = Object.entries(PYTHON_ESCAPES);
  assert.ok(all.flatMap(([, escapes]) => escapes).length >= 15);
  for (const [family, escapes] of all)
    await t.test(family, async (inner) => {
      const nodeOf: Corpus['nodeOf'] = async ({ body, before = '' }) => ({
        code: await pythonPack(body, before),
        typeId: 'test.node',
      });
      await runEscapes(inner, { sandbox, escapes: shareOf(escapes, 4), honest, nodeOf });
    });
});
