/** The example of docs/workflows.md as its reader meets it: it runs, asks, fails, is repaired and run again. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readSource } from '@gantry/packs';
import { type JsonObject, type WorkflowDefinition, wholeWorkflow } from '@gantry/protocol';
import { onePerFile } from '../testing/one-per-file.ts';
import { testHost } from '../testing/test-host.ts';

const EXAMPLE = new URL('../../../../examples/payout/', import.meta.url);
const textOf = (name: string): Promise<string> => readFile(new URL(`${name}.yaml`, EXAMPLE), 'utf8');

async function example(name: string): Promise<WorkflowDefinition> {
  const source = await readSource(`${name}.yaml`, await textOf(name));
  assert.ok(source.kind === 'json');
  return wholeWorkflow(source.value) as WorkflowDefinition;
}

const setUp = onePerFile(async (t) => {
  const { request } = await testHost(t);
  const post = async (url: string, payload: object) => {
    const answer = await request({ method: 'POST', url, payload });
    return { status: answer.statusCode, body: answer.json() };
  };
  const register = (definition: object) => post('/v1/host/gantry/workflows?replace=true', definition);
  await register(await example('bank-transfer'));
  await register(await example('payout'));
  const ended = async (runId: string) => {
    for (;;) {
      const polled = (await request({ url: `/v1/runs/${runId}/events/poll?timeout=30` })).json();
      if (polled.isTerminal) return (await request({ url: `/v1/runs/${runId}` })).json();
    }
  };
  const start = async (inputs: JsonObject): Promise<string> =>
    (await post('/v1/runs', { workflowId: 'payout', inputs })).body.runId;
  return { request, post, register, ended, start };
});

const noAccount = { seller: 'bob', account: '' };

test('a small amount is paid, a large one asks first', async () => {
  const { post, ended, start, request } = await setUp();
  const small = await ended(await start({ seller: 'ann' }));
  assert.deepEqual(small.outputs, { result: 'paid', reference: 'transfer of 20' });
  assert.deepEqual(small.channels.journal, ['ann: 20']);
  for (const [action, result] of [
    ['accept', 'paid'],
    ['reject', 'declined'],
  ] as const) {
    const runId = await start({ seller: 'bob', amount: 500 });
    await request({ url: `/v1/runs/${runId}/events/poll?timeout=30` });
    const { data } = (await request({ url: `/v1/runs/${runId}/interrupts/ask` })).json();
    assert.equal(data.title, 'Pay 500 to bob?');
    assert.deepEqual([data.artifactData.seller, data.artifactData.amount], ['bob', 500]);
    const answered = await post(`/v1/runs/${runId}/interrupts/ask`, { resumeValue: { action } });
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    assert.equal((await ended(runId)).outputs.result, result);
  }
});

test('a failed run says how to go on, and goes on from the node that failed with a corrected version', async () => {
  const { post, register, ended, start, request } = await setUp();
  const runId = await start(noAccount);
  assert.equal((await ended(runId)).status, 'failed');
  const { actions } = (await request({ url: `/v1/host/gantry/runs/${runId}/explain` })).json();
  assert.deepEqual(
    actions.map(({ action, path }: JsonObject) => [action, path]),
    [
      ['repair', `/v1/host/gantry/runs/${runId}:repair`],
      ['run-again', `/v1/host/gantry/runs/${runId}:again`],
      ['read-events', `/v1/runs/${runId}/events`],
    ],
  );
  const payout = await example('payout');
  const pay = payout.nodes.find(({ id }) => id === 'pay')!;
  const config = { ...pay.config, inputMapping: { amount: 'amount', account: 'seller' } };
  const nodes = payout.nodes.map((node) => (node === pay ? { ...pay, config } : node));
  const corrected = { ...payout, version: '1.1.0', nodes };
  await register(corrected);
  const repaired = await post(`/v1/host/gantry/runs/${runId}:repair`, {});
  assert.equal(repaired.status, 201, JSON.stringify(repaired.body));
  assert.deepEqual([repaired.body.sourceRunId, repaired.body.fromSeq], [runId, 5]);
  assert.equal((await ended(repaired.body.runId)).status, 'completed');
  const { events } = (await request({ url: `/v1/runs/${repaired.body.runId}/events/poll` })).json();
  const checked = events.filter(
    ({ type, nodeId }: JsonObject) => type === 'node.started' && nodeId === 'check',
  );
  assert.equal(checked.length, 1, 'what was done before is kept, not done again');

  await register({ ...corrected, version: '1.2.0', edges: payout.edges.filter(({ id }) => id !== 'large') });
  const other = await post(`/v1/host/gantry/runs/${runId}:repair`, {});
  assert.equal(other.status, 409);
  assert.match(other.body.message, /node check has ended and other edges leave it.*again from the start/);
  await register(payout);
});

test('a repaired run has the variables that are new in the corrected version, at their defaults', async () => {
  const { post, register, ended, start } = await setUp();
  const runId = await start(noAccount);
  await ended(runId);
  const payout = await example('payout');
  const nodes = payout.nodes.map((node) =>
    node.id === 'pay'
      ? { ...node, config: { ...node.config, inputMapping: { amount: 'amount', account: 'fallback' } } }
      : node,
  );
  let unset = '';
  const fallback = { name: 'fallback', type: 'string', defaultValue: 'DE02' } as const;
  const { defaultValue: _, ...undefaulted } = fallback;
  // A variable that is new, and one that got a default: 3.0.0 is the correction of 2.0.0
  for (const [version, added] of [
    ['2.0.0', fallback],
    ['2.1.0', undefaulted],
    ['3.0.0', fallback],
  ] as const) {
    await register({ ...payout, version, nodes, variables: [...payout.variables, added] });
    const failed = version === '3.0.0' ? unset : runId;
    if (version === '2.1.0') {
      unset = await start(noAccount);
      assert.equal((await ended(unset)).status, 'failed');
      continue;
    }
    const repaired = await post(`/v1/host/gantry/runs/${failed}:repair`, {});
    assert.equal(repaired.status, 201, JSON.stringify(repaired.body));
    assert.equal((await ended(repaired.body.runId)).status, 'completed', version);
  }
  await register(payout);
});

test('a run is run again with its inputs, of which some are changed', async () => {
  const { post, ended, start, request } = await setUp();
  const failed = await start(noAccount);
  await ended(failed);
  const again = await post(`/v1/host/gantry/runs/${failed}:again`, { inputs: { account: 'X 1' } });
  assert.equal(again.status, 201, JSON.stringify(again.body));
  const run = await ended(again.body.runId);
  assert.deepEqual([run.status, run.inputs], ['completed', { seller: 'bob', account: 'X 1' }]);
  assert.equal((await post(`/v1/host/gantry/runs/${again.body.runId}:repair`, {})).status, 409);
  assert.equal((await post('/v1/host/gantry/runs/run_none:again', {})).status, 404);
  const wrong = await post(`/v1/host/gantry/runs/${failed}:again`, { inputs: { amount: 'many' } });
  assert.equal(wrong.body.error, 'validation_error');
  assert.equal((await request({ url: `/v1/runs/${failed}` })).json().status, 'failed');
});

test('docs/workflows.md shows the example as it is', async () => {
  const page = await readFile(new URL('../../../../docs/workflows.md', import.meta.url), 'utf8');
  const shown = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text);
  assert.deepEqual(shown, [await textOf('payout'), await textOf('bank-transfer')]);
});
