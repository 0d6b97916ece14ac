/** Budgets of runs, through the front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc, RunUsage } from '@gantry/protocol';
import { type ApiTest, apiTest, assertPublic } from '../api/testing/api-test.ts';
import { type PackTest, sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onEachDatabase } from '../testing/each-database.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { payloadsOf, typesOf } from '../testing/run-events.ts';

const ask = { provider: 'scripted', prompt: 'Hello', maxTokens: 300 };
const WORKFLOWS = [
  workflow(
    'ask',
    [1, 2, 3].map((n) => node(`ai${n}`, 'core.ai.callPrompt', ask)),
  ),
  workflow('parent', [node('child', 'core.subWorkflow', { workflowId: 'ask' })]),
];
const shared = onePerFile((t) => sharedPackTest(t, { workflows: WORKFLOWS }));

const turn = { text: 'Hi', usage: { inputTokens: 20, outputTokens: 180 } };
const options = (budget: JsonObject): JsonObject => ({
  configurable: { budget, ai: { script: [turn] } },
});

async function eventsOf(api: PackTest, runId: string): Promise<RunEventDoc[]> {
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  for (const event of events) assertPublic('run-event.schema.json', event);
  return events;
}

const budgetTypes = (events: readonly RunEventDoc[]): string[] =>
  typesOf(events).filter((type) => /^(budget|cap|run)\./.test(type));

test('a budget is reserved, consumed, crossed, exhausted, and ends the run', async () => {
  const api = await shared();
  const runId = await api.start('ask', options({ maxTokens: 500, thresholdPercent: 50 }));
  const run = await api.ended(runId);
  const events = await eventsOf(api, runId);
  assert.deepEqual(budgetTypes(events), [
    'run.started',
    'budget.reserved',
    'budget.consumed',
    'budget.consumed',
    'budget.threshold.crossed',
    'budget.exhausted',
    'cap.breached',
    'run.failed',
  ]);
  assert.deepEqual(payloadsOf(events, 'budget.reserved'), [
    { effectiveBudget: { maxTokens: 500 }, scope: 'run' },
  ]);
  const consumed = { dimension: 'tokens', limit: 500 };
  assert.deepEqual(payloadsOf(events, 'budget.consumed'), [
    { ...consumed, consumed: 200, remaining: 300 },
    { ...consumed, consumed: 400, remaining: 100 },
  ]);
  const [{ kind, limit, observed }] = payloadsOf(events, 'cap.breached') as [JsonObject];
  assert.deepEqual([kind, limit], ['budget-tokens', 500]);
  assert.ok(Number(observed) > 500);
  assert.equal((run.error as JsonObject).code, 'budget_exhausted');
  const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  assert.equal(fork.statusCode, 201, fork.body);
  await api.ended(fork.json().runId);
  assert.deepEqual(typesOf(await eventsOf(api, fork.json().runId)), typesOf(events));
});

test('a person may add to it, and the run goes on', async () => {
  const api = await shared();
  const runId = await api.start('ask', options({ maxTokens: 500, onExhaustion: 'interrupt' }));
  await waits(api, runId);
  const interrupt = (await api.get(`/v1/runs/${runId}/interrupts/ai3`)).json();
  assert.equal(interrupt.kind, 'approval');
  const resumeValue = { action: 'edit-accept', editedArtifactData: { maxTokens: 700 } };
  const answer = await api.post(`/v1/runs/${runId}/interrupts/ai3`, { resumeValue });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal((await api.ended(runId)).status, 'completed');
  const reserved = payloadsOf(await eventsOf(api, runId), 'budget.reserved');
  assert.deepEqual(
    reserved.map(({ effectiveBudget }) => effectiveBudget),
    [{ maxTokens: 500 }, { maxTokens: 1_200 }],
  );
  const refusing = await api.start('ask', options({ maxTokens: 500, onExhaustion: 'interrupt' }));
  await waits(api, refusing);
  await api.post(`/v1/runs/${refusing}/interrupts/ai3`, { resumeValue: { action: 'reject' } });
  assert.equal(((await api.ended(refusing)).error as JsonObject).code, 'budget_exhausted');
});

async function waits(api: PackTest, runId: string): Promise<void> {
  for (let last = -1; ; ) {
    const found = await api.get(`/v1/runs/${runId}/interrupts/ai3`);
    if (found.statusCode === 200) return;
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const polled = (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
    assert.ok(polled.lastEventSeq > last && !polled.isTerminal, JSON.stringify(polled));
    last = polled.lastEventSeq;
  }
}

test('children share the budget of their family', async () => {
  const api = await shared();
  const runId = await api.start('parent', options({ maxTokens: 500 }));
  assert.equal((await api.ended(runId)).status, 'failed');
  const { ledger } = api.host.services.ai;
  assert.equal((await ledger.ofRun('default', runId)).tokens, 400);
  const { runs } = (await api.get('/v1/runs?limit=5')).json();
  const child = runs.find(({ workflowId }: JsonObject) => workflowId === 'ask');
  const { error } = (await api.get(`/v1/runs/${child.runId}`)).json();
  assert.equal(error.code, 'budget_exhausted');
});

test('pack code cannot go on when nothing is left', async () => {
  const api = await shared();
  const body = `
    for (let call = 0; call < 9; call++)
      try { await ctx.callAI({ provider: 'scripted', maxTokens: 300, messages: [{ role: 'user', content: 'x' }] }); } catch {}
    return { done: true };`;
  await api.install({ nodes: { 'vendor.acme.ask': { role: 'side-effect', body } } });
  await api.registered(workflow('packed', [node('a', 'vendor.acme.ask')]));
  const script = [turn, turn, turn];
  const runId = await api.start('packed', { configurable: { budget: { maxTokens: 500 }, ai: { script } } });
  const { error } = (await api.ended(runId)) as { error: JsonObject };
  assert.equal(error.code, 'budget_exhausted');
  assert.equal(payloadsOf(await eventsOf(api, runId), 'provider.usage').length, 2);
});

test('calls of tools are counted for the family, in the commit of their claim', async () => {
  const api = await shared();
  const body = `
    const codes = [];
    for (let call = 0; call < 3; call++)
      try { await ctx.http.safeFetch('https://127.0.0.1/' + call); } catch (error) { codes.push(error.code); }
    return { codes };`;
  await api.install({ nodes: { 'vendor.acme.calls': { role: 'side-effect', body } } });
  await api.registered(workflow('calls', [node('ai3', 'vendor.acme.calls')]));
  await api.registered(
    workflow(
      'twice',
      [1, 2].map((n) => node(`n${n}`, 'core.subWorkflow', { workflowId: 'calls' })),
    ),
  );
  const budget = { maxToolCalls: 2, thresholdPercent: 100 };
  const ended = await api.start('calls', { configurable: { budget } });
  assert.equal(((await api.ended(ended)).error as JsonObject).code, 'budget_exhausted');
  const events = await eventsOf(api, ended);
  const told = { dimension: 'toolCalls', limit: 2 };
  assert.deepEqual(payloadsOf(events, 'budget.consumed'), [
    { ...told, consumed: 1, remaining: 1 },
    { ...told, consumed: 2, remaining: 0 },
  ]);
  assert.deepEqual(payloadsOf(events, 'budget.threshold.crossed'), [{ ...told, consumed: 2, percent: 100 }]);
  assert.equal(payloadsOf(events, 'agent.toolCalled').length, 2);
  assert.equal(payloadsOf(events, 'cap.breached')[0]?.kind, 'budget-tool-calls');

  const asking = await api.start('calls', {
    configurable: { budget: { ...budget, onExhaustion: 'interrupt' } },
  });
  await waits(api, asking);
  await api.post(`/v1/runs/${asking}/interrupts/ai3`, { resumeValue: { action: 'accept' } });
  const { variables: _, ...run } = await api.ended(asking);
  assert.equal(run.status, 'completed');
  const [{ outputs }] = payloadsOf(await eventsOf(api, asking), 'run.completed') as [JsonObject];
  assert.deepEqual((outputs as JsonObject).codes, Array(3).fill('ssrf_blocked'));

  const family = await api.start('twice', { configurable: { budget: { maxToolCalls: 4 } } });
  assert.equal((await api.ended(family)).status, 'failed');
});

test('calls that a mocked agent plays are counted as well', async () => {
  const api = await shared();
  const mockToolCalls = [1, 2, 3].map((n) => ({ toolId: `t${n}`, result: n }));
  await api.registered(
    workflow('conformance-calls', [node('ai3', 'core.conformance.mock-agent', { mockToolCalls })]),
  );
  const budget = { maxToolCalls: 2 };
  const ended = await api.start('conformance-calls', { configurable: { budget } });
  assert.equal(((await api.ended(ended)).error as JsonObject).code, 'budget_exhausted');
  const events = await eventsOf(api, ended);
  const told = { dimension: 'toolCalls', limit: 2 };
  assert.deepEqual(payloadsOf(events, 'budget.consumed'), [
    { ...told, consumed: 1, remaining: 1 },
    { ...told, consumed: 2, remaining: 0 },
  ]);
  assert.equal(payloadsOf(events, 'agent.toolCalled').length, 2);
  assert.equal(payloadsOf(events, 'cap.breached')[0]?.kind, 'budget-tool-calls');
  const fork = await api.post(`/v1/runs/${ended}:fork`, { mode: 'replay', fromSeq: 0 });
  await api.ended(fork.json().runId);
  assert.deepEqual(typesOf(await eventsOf(api, fork.json().runId)), typesOf(events));

  const asking = await api.start('conformance-calls', {
    configurable: { budget: { ...budget, onExhaustion: 'interrupt' } },
  });
  await waits(api, asking);
  await api.post(`/v1/runs/${asking}/interrupts/ai3`, { resumeValue: { action: 'accept' } });
  assert.equal((await api.ended(asking)).status, 'completed');
  const names = payloadsOf(await eventsOf(api, asking), 'agent.toolCalled').map(({ toolName }) => toolName);
  assert.deepEqual(names, ['t1', 't2', 't3']);
});

test('a workflow has a budget of its own, which a run can only narrow', async () => {
  const api = await shared();
  const ask = node('ai1', 'core.ai.callPrompt', { provider: 'scripted', prompt: 'Hello', maxTokens: 300 });
  const budget = { maxTokens: 400, modelAllow: ['claude-*', 'ec*'] };
  const settings = { budget } as never;
  await api.registered(workflow('bounded', [ask], { settings }));
  const reserved = async (runBudget: JsonObject): Promise<JsonObject[]> => {
    const runId = await api.start('bounded', options(runBudget));
    await api.ended(runId);
    const events = await eventsOf(api, runId);
    return [...payloadsOf(events, 'budget.reserved'), ...payloadsOf(events, 'run.failed')];
  };
  assert.deepEqual(await reserved({ maxTokens: 500, modelAllow: ['*'] }), [
    { effectiveBudget: { maxTokens: 400 }, scope: 'workflow' },
  ]);
  const [{ effectiveBudget, scope }, denied] = (await reserved({
    maxTokens: 350,
    modelAllow: ['claude-opus', 'gpt-*'],
  })) as [JsonObject, JsonObject];
  assert.deepEqual([effectiveBudget, scope], [{ maxTokens: 350 }, 'run']);
  assert.equal((denied.error as JsonObject).code, 'budget_model_denied');
  for (const wrong of [{ maxTokns: 3 }, { maxTokens: 'many' }, { onExhaustion: 'explode' }]) {
    const refused = await api.register(workflow('wrong', [ask], { settings: { budget: wrong } as never }));
    assert.equal(refused.statusCode, 400, refused.body);
    assert.match(refused.body, /settings\/budget/);
  }
});

test('retries are counted, denied models are not asked, and a budget that does not fit is refused', async () => {
  const api = await shared();
  const settings = { maxRetries: 5, backoffMs: 1 };
  await api.registered(
    workflow('retries', [
      node('ai1', 'core.ai.callPrompt', { provider: 'scripted', prompt: 'x' }, { settings }),
    ]),
  );
  const faults = Array.from({ length: 12 }, () => ({ fault: '500' }));
  const retried = await api.start('retries', {
    configurable: { budget: { maxRetries: 1 }, ai: { script: faults } },
  });
  assert.equal(((await api.ended(retried)).error as JsonObject).code, 'budget_exhausted');
  assert.equal(payloadsOf(await eventsOf(api, retried), 'node.retried').length, 1);
  for (const budget of [{ modelDeny: ['ec*'], modelAllow: ['*'] }, { modelAllow: ['claude-*'] }]) {
    const runId = await api.start('ask', options(budget));
    assert.equal(((await api.ended(runId)).error as JsonObject).code, 'budget_model_denied');
    assert.deepEqual(payloadsOf(await eventsOf(api, runId), 'provider.usage'), []);
  }
  for (const budget of [{ maxTokns: 5 }, { maxTokens: 0 }, { maxToolCalls: 0 }, 7]) {
    const refused = await api.post('/v1/runs', { workflowId: 'ask', configurable: { budget } });
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'validation_error'], refused.body);
    assert.match(refused.json().message, /configurable\.budget is not valid/);
  }
});

onEachDatabase(
  'what comes from a run shares its budget and the limit of the operator',
  async (t, settings) => {
    const api = await apiTest(t, { workflows: WORKFLOWS, settings: { ...settings, budgetMaxTokens: 500 } });
    const made = async (url: string, body: JsonObject = {}): Promise<string> =>
      (await api.post(url, body)).json().runId;
    const branch = {
      mode: 'branch',
      fromSeq: 0,
      runOptionsOverlay: { configurable: { budget: { maxTokens: 9_999 } } },
    };
    const ways: Record<string, (runId: string) => Promise<string>> = {
      repair: (runId) => made(`/v1/host/gantry/runs/${runId}:repair`),
      branch: (runId) => made(`/v1/runs/${runId}:fork`, branch),
      again: (runId) => made(`/v1/host/gantry/runs/${runId}:again`),
      replay: (runId) => made(`/v1/runs/${runId}:fork`, { mode: 'replay' }),
    };
    for (const workflowId of ['ask', 'parent']) {
      const first = await api.start(workflowId, { configurable: { ai: { script: [turn] } } });
      assert.equal((await api.ended(first)).status, 'failed');
      const family = { runId: first, tokens: 400, costUsd: 0 };
      assert.deepEqual((await usageOf(api, first)).family, family);
      let source = first;
      for (const [name, way] of Object.entries(ways)) {
        source = await way(source);
        const { status, error } = await api.ended(source);
        assert.equal(status, 'failed', name);
        if (workflowId === 'ask') assert.equal(Object(error).code, 'budget_exhausted', name);
        const used = await usageOf(api, source);
        assert.deepEqual(used.family, family, name);
        assert.deepEqual(
          [used.tokens, used.callCount],
          workflowId === 'ask' && name === 'repair' ? [400, 2] : [0, 0],
        );
      }
    }
  },
);

const usageOf = async (api: ApiTest, runId: string): Promise<RunUsage> =>
  (await api.get(`/v1/host/gantry/runs/${runId}/usage`)).json();

test('a budget that does not suffice says what is needed and what is left; a price has a limit', async () => {
  const api = await shared();
  const failed = async (configurable: JsonObject) =>
    (await api.ended(await api.start('ask', { configurable }))).error as JsonObject;
  const script = [turn];
  const none = await failed({ budget: { maxTokens: 100 }, ai: { script } });
  assert.match(
    String(none.message),
    /needs at least 2\d\d tokens, and the run has 100 left of 100 \(maxTokens\)/,
  );
  const some = await failed({ budget: { maxTokens: 400 }, ai: { script: [turn, turn] } });
  assert.match(String(some.message), /and the run has 200 left of 400/);
  const price = { input: 1_000, output: 1_000 };
  const cost = await failed({ budget: { maxCostUsd: 0.1 }, ai: { script, price } });
  assert.match(String(cost.message), /needs at least 0\.2\d+ US dollars, and the run has 0\.1 left/);
  const dear = await failed({ ai: { script, price: { input: 1e15, output: 0 } } });
  assert.deepEqual(
    [dear.code, /0 to 10000 US dollars/.test(String(dear.message))],
    ['validation_error', true],
  );
});
