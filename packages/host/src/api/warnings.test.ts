/** Names that are probably mistyped are warned of in the answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { PACK_NAME, packArchive } from '../packs/testing/pack-archive.ts';
import { packTest } from '../packs/testing/pack-test.ts';
import { edge, node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';

const openApi = onePerFile(packTest);
const TYPE = 'vendor.acme.work';
const WORKFLOWS = '/v1/host/gantry/workflows';
const variables = [{ name: 'city', type: 'string' as const }];

test('unknown inputs, event types, settings of nodes and names of configurable', async () => {
  const api = await openApi();
  const configurableSchema = { type: 'object', properties: { model: { type: 'string' } } };
  const flow = workflow(
    'typos',
    [node('a', 'core.noop', {}, { settings: { maxRetrys: 3, timeoutMs: 5_000 } })],
    {
      variables,
      configurableSchema,
    },
  );
  const registered = await api.post(WORKFLOWS, flow);
  assert.equal(registered.statusCode, 201, registered.body);
  assert.equal(
    registered.headers['gantry-warning'],
    '/nodes/0/settings/maxRetrys: Unknown setting maxRetrys of a node (ignored). Did you mean maxRetries?',
  );
  const run = await api.post('/v1/runs', { workflowId: 'typos', inputs: { ctiy: 'Bern', 'é\n': 1 } });
  assert.equal(run.statusCode, 201, run.body);
  assert.match(
    String(run.headers['gantry-warning']),
    /^Unknown input "ctiy" \(ignored\)\. Did you mean city\? Unknown input "\?\\n" \(ignored\)\.$/,
  );
  const needed = [{ name: 'amount', type: 'number' as const, required: true }];
  await api.post(WORKFLOWS, workflow('needs', [node('a', 'core.noop')], { variables: needed }));
  const refused = await api.post('/v1/runs', { workflowId: 'needs', inputs: { amonut: 1 } });
  assert.equal(refused.statusCode, 400);
  assert.match(
    refused.json().message,
    /amount is required \("amonut" is unknown: did you mean "amount"\?\)$/,
  );
  const fine = await api.post('/v1/runs', { workflowId: 'typos', inputs: { city: 'Bern' } });
  assert.equal(fine.headers['gantry-warning'], undefined);
  await api.ended(fine.json().runId);
  const budget = {
    workflowId: 'typos',
    inputs: { city: 'Bern' },
    configurable: { bugdet: { maxTokens: 1 } },
  };
  const unbound = await api.post('/v1/runs', budget);
  assert.match(String(unbound.headers['gantry-warning']), /"bugdet" \(ignored\)\. Did you mean budget\?/);
  const bounded = await api.post('/v1/runs', { ...budget, configurable: { budget: { maxTokens: 1 } } });
  assert.equal(bounded.headers['gantry-warning'], undefined);
  const overlay = { configurable: { modle: 'small' } };
  const body = { mode: 'branch', fromSeq: 1, runOptionsOverlay: overlay };
  const forked = await api.post(`/v1/runs/${fine.json().runId}:fork`, body);
  assert.equal(forked.statusCode, 201, forked.body);
  assert.match(String(forked.headers['gantry-warning']), /"modle" \(ignored\)\. Did you mean model\?/);
  await api.registered(workflow('plain', [node('a', 'core.noop')]));
  const bare = await api.start('plain');
  await api.ended(bare);
  const slip = { ...body, runOptionsOverlay: { configurable: { runTimeoutMS: 1_000, other: 1 } } };
  const unsaid = await api.post(`/v1/runs/${bare}:fork`, slip);
  assert.match(
    String(unsaid.headers['gantry-warning']),
    /^Unknown name in configurable "runTimeoutMS" \(ignored\)\. Did you mean runTimeoutMs\? .*"other" \(ignored\)/,
  );
});

test('the condition of an edge that leaves a condition reads its one output', async () => {
  const api = await openApi();
  const reading = (left: string) =>
    workflow('branching', [node('big', 'core.conditional', { expression: 'true' }), node('b', 'core.noop')], {
      edges: [edge('big', 'b', { condition: { type: 'truthy', left } })],
    });
  const warningOf = async (left: string) =>
    (await api.post(`${WORKFLOWS}?replace=true`, reading(left))).headers['gantry-warning'];
  assert.match(
    String(await warningOf('outputs.reslt')),
    /big declares no output reslt\. Did you mean result\?/,
  );
  assert.equal(await warningOf('outputs.result'), undefined);
});

test('paths of conditions and mappings are compared with declared variables and outputs', async () => {
  const api = await openApi();
  const properties = { total: { type: 'integer' } };
  const install = (version: string, schema: object) =>
    api.install({
      version,
      nodes: { [TYPE]: { body: 'return { total: 1 };', more: { outputSchemaRef: 'out.json' } } },
      files: { 'out.json': { type: 'object', properties, ...schema } },
    });
  const flow = (id: string, left: string, expression: string) =>
    workflow(
      id,
      [node('a', TYPE), node('b', 'core.noop', {}, { inputs: { n: { type: 'expression', expression } } })],
      {
        variables,
        packs: { [PACK_NAME]: { version: '*' } },
        edges: [edge('a', 'b', { condition: { type: 'truthy', left } })],
      },
    );
  await install('1.0.0', {});
  const registered = async (id: string, left: string, expression: string) => {
    const answer = await api.post(WORKFLOWS, flow(id, left, expression));
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.headers['gantry-warning'];
  };
  assert.equal(await registered('right', 'outputs.total', 'nodes.a.outputs.total'), undefined);
  assert.equal(await registered('also', 'output.total', 'variables.city'), undefined);
  const wrong = String(await registered('wrong', 'outputs.totl', 'nodes.a.outputs.ttoal'));
  assert.match(wrong, /\/edges\/0\/condition: The node a declares no output totl\. Did you mean total\?/);
  assert.match(wrong, /\/nodes\/1\/inputs\/n\/expression: The node a declares no output ttoal\./);
  assert.match(
    String(await registered('root', 'ouputs.total', 'variables.ctiy')),
    /ouputs\.total does not exist\. Did you mean outputs\?/,
  );
  assert.match(
    String(await registered('variable', 'outputs.total', 'variables.ctiy')),
    /no variable ctiy\. Did you mean city\?/,
  );
  await install('1.0.1', { additionalProperties: false });
  const refused = await api.post(WORKFLOWS, flow('closed', 'outputs.totl', 'nodes.a.outputs.total'));
  assert.equal(refused.statusCode, 400, refused.body);
  assert.match(refused.body, /declares no output totl/);
});

test('a run that ended because no edge was taken says so', async () => {
  const api = await openApi();
  const condition = { type: 'equals' as const, left: 'outputs.go', right: true };
  await api.registered(
    workflow('stuck', [node('a', 'core.noop'), node('b', 'core.noop')], {
      edges: [edge('a', 'b', { condition })],
    }),
  );
  const runId = await api.start('stuck');
  await api.ended(runId);
  const { notes } = (await api.get(`/v1/host/gantry/runs/${runId}/explain`)).json();
  assert.deepEqual(notes, ['No edge out of a was taken: no condition held, so b did not run after it.']);
});

test('a gate that no key of the tenant could answer', async () => {
  const api = await openApi();
  const gate = (id: string, config: JsonObject) =>
    workflow(id, [node('gate', 'core.approvalGate', { title: 'Pay?', ...config })]);
  const warningOf = async (id: string, config: JsonObject) => {
    const answer = await api.post(WORKFLOWS, gate(id, config));
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.headers['gantry-warning'];
  };
  const groups = { approverGroupRefs: ['treasury', 'audit'] };
  const message =
    '/nodes/0/config: No key of this tenant could answer the gate: it takes one with group:treasury or group:audit.';
  assert.equal(await warningOf('nobody', groups), message);
  assert.equal(
    await warningOf('listed', { ...groups, approversList: ['ada'] }),
    undefined,
    'a link is made for her',
  );
  assert.equal(await warningOf('open', {}), undefined);
  const scopes = ['approvals:respond', 'group:audit'];
  const made = await api.post('/v1/host/gantry/keys', { name: 'auditor', scopes });
  assert.equal(made.statusCode, 201, made.body);
  assert.equal(await warningOf('somebody', groups), undefined);
});

test('nodes that would ask a model which nobody serves', async () => {
  const api = await openApi();
  const warningOf = async (config: JsonObject): Promise<string> => {
    const response = await api.post(
      `${WORKFLOWS}?replace=true`,
      workflow('asks', [node('a', 'core.ai.callPrompt', config)]),
    );
    assert.equal(response.statusCode, 201, response.body);
    return String(response.headers['gantry-warning'] ?? '');
  };
  assert.equal(await warningOf({ provider: 'scripted', prompt: 'x' }), '');
  assert.match(
    await warningOf({ provider: 'anthropic', prompt: 'x' }),
    /^\/nodes\/0: Runs will fail here with provider_unavailable\. There is no key for anthropic.*gantry credentials add anthropic/,
  );
  assert.match(
    await warningOf({ prompt: 'x' }),
    /^\/nodes\/0: Runs that name no provider will fail .*There is no model provider for chat\. Add a key/,
  );
  const { error } = (await api.ended(await api.start('asks'))) as { error: JsonObject };
  assert.equal(error.code, 'provider_unavailable');
  assert.match(String(error.message), /gantry credentials add.*ollama.*scripted/);
});

test('a pack that needs a model is refused while there is only a script', async () => {
  const api = await openApi();
  const manifest = { peerDependencies: { aiProviders: 'supported' } };
  const { bytes } = await packArchive({
    name: 'vendor.acme.needs-model',
    nodes: { [TYPE]: { body: 'return {};' } },
    manifest,
  });
  const refused = await api.upload(bytes);
  assert.equal(refused.statusCode, 400, refused.body);
  assert.equal(refused.json().error, 'pack_peer_dependency_missing');
  assert.match(refused.body, /aiProviders/);
});
