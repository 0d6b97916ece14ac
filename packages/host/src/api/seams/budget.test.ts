import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { node, workflow } from '../../testing/definitions.ts';
import { seamTest } from './testing/seam-test.ts';

test('a run ends when its money is used up, is refused a denied model, or goes on where limits advise', async (t) => {
  const api = await seamTest(t);
  const typesOf = async (runId: string): Promise<string[]> => {
    const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
    return events
      .map(({ type }: RunEventDoc) => type)
      .filter((type: string) => /^(budget|cap)\.|^run\.failed/.test(type));
  };
  const hard = await api.drive('budget/run', { scenario: 'hard-cost-exhaust' });
  assert.deepEqual([hard.outcome, hard.error, hard.modelCalled], ['failed', 'budget_exhausted', true]);
  assert.deepEqual(await typesOf(hard.runId), [
    'budget.reserved',
    'budget.consumed',
    'budget.consumed',
    'budget.threshold.crossed',
    'budget.exhausted',
    'cap.breached',
    'run.failed',
  ]);
  const denied = await api.drive('budget/run', { scenario: 'model-denied' });
  assert.deepEqual(
    [denied.outcome, denied.error, denied.modelCalled],
    ['failed', 'budget_model_denied', false],
  );
  const advised = await api.drive('budget/run', { scenario: 'advisory' });
  assert.deepEqual([advised.outcome, advised.error], ['completed', undefined]);
  assert.ok((await typesOf(advised.runId)).includes('budget.threshold.crossed'));
});

test('usage is told by workflow and by run', async (t) => {
  const api = await seamTest(t);
  const { runId } = await api.drive('budget/run', { scenario: 'advisory' });
  const used = (await api.get('/v1/host/gantry/usage?days=1')).json();
  const amounts = { calls: 3, inputTokens: 60, outputTokens: 540, costUsd: 0.006 };
  assert.deepEqual(used.total, amounts);
  assert.deepEqual(used.workflows, [{ workflowId: 'conformance-seam-budget', ...amounts }]);
  const run = (await api.get(`/v1/runs/${runId}`)).json();
  assert.deepEqual(run.metrics.openwopCost, {
    usd: 0.006,
    tokens: { input: 60, output: 540 },
    model: 'echo',
    provider: 'scripted',
  });
  const bundle = (await api.get(`/v1/runs/${runId}/debug-bundle`)).json();
  assert.deepEqual(bundle.metrics.openwopCost, run.metrics.openwopCost);
  const ofRun = (await api.get(`/v1/host/gantry/runs/${runId}/usage`)).json();
  assert.deepEqual([ofRun.tokens, ofRun.costUsd, ofRun.callCount, ofRun.inDoubt], [600, 0.006, 3, []]);
  assert.deepEqual(ofRun.calls[0], {
    nodeId: 'ask1',
    provider: 'scripted',
    model: 'echo',
    inputTokens: 20,
    outputTokens: 180,
    costUsd: 0.002,
  });
  assert.equal((await api.get('/v1/host/gantry/usage?days=0')).statusCode, 400);
});

test('usage is read from a log of any length', async (t) => {
  const api = await seamTest(t);
  const inputs = { text: { type: 'variable', variableName: 'text' } } as const;
  const long = Array.from({ length: 90 }, (_, at) => node(`n${at}`, 'core.identity', {}, { inputs }));
  const ask = node('ask', 'core.ai.callPrompt', { provider: 'scripted', prompt: 'Hello' });
  const variables = [{ name: 'text', type: 'string' as const }];
  await api.registered(workflow('long', [...long, ask], { variables }));
  const runId = await api.start('long', { inputs: { text: 'x'.repeat(100_000) } });
  assert.equal((await api.ended(runId)).status, 'completed');
  const used = (await api.get(`/v1/host/gantry/runs/${runId}/usage`)).json();
  assert.deepEqual([used.callCount, used.calls[0].nodeId], [1, 'ask']);
});
