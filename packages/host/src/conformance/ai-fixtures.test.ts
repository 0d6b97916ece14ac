/** Public fixtures of nodes that ask models, as the suite runs them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicFixturesFolder, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { apiTest } from '../api/testing/api-test.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { assertOrder } from '../testing/run-events.ts';

const host = onePerFile((t) =>
  apiTest(t, { settings: { workflowsDir: publicFixturesFolder, testSeams: true }, workflows: [] }),
);

const FIXTURES = [
  'conformance-envelope-refusal',
  'conformance-model-capability-insufficient',
  'conformance-phase4-nondet-tool',
  'conformance-phase4-replay-divergence',
  'conformance-prompt-all-four-kinds',
  'conformance-stream-text',
];

test('fixtures of models are listed', { skip: skipWithoutPublicData }, async () => {
  const { fixtures } = (await (await host()).get('/.well-known/openwop')).json();
  for (const id of FIXTURES) assert.ok(fixtures.includes(id), id);
});

test('a model that lacks something is told before the node fails', {
  skip: skipWithoutPublicData,
}, async () => {
  const api = await host();
  const runId = await api.start('conformance-model-capability-insufficient');
  const run = await api.ended(runId);
  assert.equal(Object(run.error).code, 'capability_not_provided');
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  assertOrder(events, ['model.capability.insufficient', 'node.failed', 'run.failed']);
});

test('a replay of a model call asks nobody and tells the same', { skip: skipWithoutPublicData }, async () => {
  const api = await host();
  const content = '{"valid":true}';
  // The second would be a refusal
  const program = [{ content }, { stopReason: 'safety', refusalText: 'No.' }];
  await api.post('/v1/host/sample/test/mock-ai/program', { nodeId: 'structured-call', program });
  for (const id of ['conformance-phase4-nondet-tool', 'conformance-phase4-replay-divergence']) {
    const runId = await api.start(id);
    assert.equal((await api.ended(runId)).status, 'completed');
    const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
    const replayed = fork.json().runId;
    assert.equal((await api.ended(replayed)).status, 'completed');
    const typesOf = async (of: string): Promise<string[]> => {
      const { events } = (await api.get(`/v1/runs/${of}/events/poll?timeout=1`)).json();
      return events.map(({ type }: { type: string }) => type);
    };
    assert.deepEqual(await typesOf(replayed), await typesOf(runId));
  }
});
