import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, workflow } from '../../testing/definitions.ts';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

const URL = '/v1/host/sample/workflows';

test('a small definition is filled in: one node follows the other, mapped outputs are variables', async (t) => {
  const api = await seamTest(t);
  const child = { workflowId: 'child', nodes: [{ nodeId: 'only', typeId: 'core.noop' }] };
  assert.equal((await api.post(URL, child)).statusCode, 201);
  const config = { workflowId: 'child', outputMapping: { result: 'nothing' } };
  const nodes = [
    { nodeId: 'first', typeId: 'core.noop' },
    { nodeId: 'call', typeId: 'core.subWorkflow', config },
  ];
  const made = await api.post(URL, { workflowId: 'parent', nodes });
  assert.deepEqual([made.statusCode, made.json()], [201, { workflowId: 'parent' }]);
  const run = await api.ended(await api.start('parent'));
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  const { workflows } = (await api.get(URL)).json();
  assert.ok(workflows.some(({ workflowId }: { workflowId: string }) => workflowId === 'parent'));
  const edges = [{ from: 'first.output', to: 'nobody' }];
  assertError(await api.post(URL, { workflowId: 'wrong', nodes, edges }), 400, 'validation_error');
});

test('it may script the decisions of a supervisor, whatever its id', async (t) => {
  const api = await seamTest(t);
  await api.post(URL, { workflowId: 'worker', nodes: [{ nodeId: 'only', typeId: 'core.fail' }] });
  const mockDispatchPlan = [
    { kind: 'next-worker', nextWorkerIds: ['worker'] },
    { kind: 'terminate', reason: 'goal-reached' },
  ];
  const dispatch = { workerDispatchModel: 'child-run', outputMapping: { result: 'outcome' } };
  const made = await api.post(URL, {
    workflowId: 'scripted',
    nodes: [
      { nodeId: 'decide', typeId: 'core.orchestrator.supervisor', config: { mockDispatchPlan } },
      { nodeId: 'dispatch', typeId: 'core.dispatch', config: dispatch },
    ],
  });
  assert.equal(made.statusCode, 201, made.body);
  const run = await api.ended(await api.start('scripted'));
  assert.equal(Object(run.variables).result, undefined);
  assert.equal(Object(run.childRuns)[0]?.status, 'failed');
});

test('a whole definition may play a model, and have an empty object for no variables', async (t) => {
  const api = await seamTest(t);
  const whole = { ...workflow('plays', [node('ask', 'local.sample.demo.mock-ai')]), variables: {} };
  const made = await api.post(URL, { definition: whole });
  assert.equal(made.statusCode, 201, made.body);
  assert.equal((await api.ended(await api.start('plays', { inputs: {} }))).status, 'completed');
});

test('variables of a run that waits are set as a node would set them', async (t) => {
  const api = await seamTest(t);
  const gate = {
    id: 'gate',
    typeId: 'core.approvalGate',
    name: 'gate',
    position: { x: 0, y: 0 },
    inputs: {},
  };
  const definition = {
    id: 'asks',
    name: 'asks',
    version: '1.0.0',
    nodes: [{ ...gate, config: { title: 'Go on?', actions: ['accept', 'reject'] } }],
    edges: [],
    triggers: [],
    variables: [{ name: 'city', type: 'string', defaultValue: 'Oslo' }],
    metadata: {},
    settings: {},
  };
  assert.equal((await api.post(URL, { definition })).statusCode, 201);
  const runId = await api.start('asks');
  const url = `/v1/host/sample/test/runs/${runId}/variables`;
  assert.deepEqual((await api.post(url, { variables: { city: 'Rome' } })).json(), {
    variables: { city: 'Rome' },
  });
  assert.equal((await api.get(`/v1/runs/${runId}`)).json().variables.city, 'Rome');
  assertError(await api.post(url, { variables: { city: 1 } }), 400, 'validation_error');
  assertError(await api.post(url, { variables: { town: 'x' } }), 400, 'validation_error');
});
