/** `--set`: options of one run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { realHost } from './testing/real-host.ts';

const ASK = workflow('ask', [node('a', 'core.ai.callPrompt', { prompt: 'Say hello.' })]);

test('a run takes provider, script and budget, and is run again with another budget and the rest', async (t) => {
  const { gantry } = await realHost(t, [ASK]);
  const script = JSON.stringify([{ text: 'Hello from the script.' }]);
  const set = ['ai.provider=scripted', `ai.script=${script}`, 'budget.maxTokens=1', 'budget.mode=x'];
  const wrong = await gantry('run', 'ask', ...set.flatMap((each) => ['--set', each]));
  assert.notEqual(wrong.code, 0, wrong.out);
  const options = set.slice(0, 3).flatMap((each) => ['--set', each]);
  const poor = await gantry('run', 'ask', ...options, '--watch');
  assert.match(poor.out, /budget_exhausted/, poor.err);
  const [runId = ''] = /run_\w+/.exec(poor.out) ?? [];
  const again = await gantry('rerun', runId, '--set', 'budget.maxTokens=100000', '--watch');
  assert.match(again.out, /Hello from the script/, again.err);
  const broken = await gantry('run', 'ask', '--set', 'ai..model=x');
  assert.match(broken.err, /--set takes name=value, and a\.b=value for a member: not "ai\.\.model=x"/);
});
