/** Envelopes that models make for nodes, through the front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, profilesOf, type RunEventDoc } from '@gantry/protocol';
import { assertPublic } from '../api/testing/api-test.ts';
import { packArchive } from '../packs/testing/pack-archive.ts';
import { type PackTest, packTest, sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { TEST_KEY } from '../testing/host-process.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { assertOrder, only, payloadsOf } from '../testing/run-events.ts';
import { keyVariables } from './providers/key-offers.ts';

const MAKE = 'vendor.acme.make';
const WAIT = 'vendor.acme.wait';
const GENERATE = `
  const { retry, ...ask } = ctx.config;
  const made = await ctx.aiEnvelope.generate({ systemPrompt: 'Write.', envelopeType: 'prd.create', ...ask })
    .catch((error) => { if (error.code === 'envelope_pending') throw error; return { code: error.code }; });
  if (retry && ctx.attempt === 0) throw Object.assign(new Error('once'), { retryable: true });
  return made;`;
const AWAIT = `return ctx.aiEnvelope.await({ envelopeType: 'prd.create', timeoutMs: ctx.config.timeoutMs });`;

const shared = onePerFile(async (t) => {
  const api = await sharedPackTest(t);
  const made = { role: 'side-effect', body: GENERATE };
  await api.install({ nodes: { [MAKE]: made, [WAIT]: { role: 'gate', body: AWAIT } } });
  return api;
});

const says = (value: unknown): JsonObject => ({ text: JSON.stringify(value) });
const PRD = { type: 'prd.create', payload: { title: 'Plan' } };
const QUESTION = { id: 'q1', question: 'For whom?' };
const ASKS = { type: 'clarification.request', payload: { questions: [QUESTION] } };
const surface = (component: string) => ({
  type: 'ui.a2ui-surface',
  payload: { catalogVersion: '0.9.1', surface: { components: [{ component, text: 'Hi' }] } },
});

type Nodes = Parameters<typeof workflow>[1];

async function begun(nodes: Nodes, ...script: JsonObject[]): Promise<[PackTest, string]> {
  const api = await shared();
  await api.registered(workflow('make', nodes, { edges: [] }));
  const configurable = { ai: { provider: 'scripted', ...(script.length > 0 && { script }) } };
  return [api, await api.start('make', { configurable })];
}

async function ended(api: PackTest, runId: string) {
  const run = await api.ended(runId);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  for (const event of events) assertPublic('run-event.schema.json', event);
  return { run, events: events as RunEventDoc[], outputs: (run.outputs ?? {}) as JsonObject };
}

const make = (config: JsonObject = {}) =>
  node('a', MAKE, config, { settings: { maxRetries: 1, backoffMs: 1 } });
const made = async (config: JsonObject, ...script: JsonObject[]) =>
  ended(...(await begun([make(config)], ...script)));

test('a model makes an envelope, which is in the log with its hint', async () => {
  const hint = { display: 'card', title: 'A plan' };
  const sent = { ...PRD, meta: { rendering: hint, source: 'user', contentTrust: 'trusted' } };
  const { outputs, events } = await made({ retry: true }, says(sent));
  const { envelopeId, ...rest } = outputs;
  assert.match(String(envelopeId), /^env_/);
  assert.deepEqual(rest, {
    envelopeType: 'prd.create',
    payload: { title: 'Plan' },
    usage: { inputTokens: 33, outputTokens: 2 },
    model: 'echo',
    rendering: hint,
  });
  const { payload } = only(events, 'log.appended');
  assert.deepEqual(payload.data, {
    type: 'prd.create',
    envelopeId,
    payload: { title: 'Plan' },
    rendering: hint,
  });
  assert.equal(payloadsOf(events, 'provider.usage').length, 1);
});

test('a bare payload will do, and one that never fits is told with its reason, once', async () => {
  assert.deepEqual((await made({}, says({ title: 'Bare' }))).outputs.payload, { title: 'Bare' });
  const schema = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } };
  const { outputs, events } = await made(
    { schema, retry: true },
    ...Array(3).fill(says({ type: 'other', payload: {} })),
  );
  assert.deepEqual(outputs, { code: 'envelope_validation_failed' });
  assert.equal(payloadsOf(events, 'envelope.retry.attempted').length, 2);
  only(events, 'envelope.retry.exhausted');
  only(events, 'cap.breached');
  const { outputs: refused } = await made({}, { text: 'No.', fault: 'refusal' });
  assert.deepEqual(refused, { code: 'envelope_refusal' });
});

test('a model asks a person, and goes on with the answer', async () => {
  const [api, runId] = await begun([make()], says(ASKS), says(PRD));
  const asked = await api.asks(runId);
  assert.equal(asked.kind, 'clarification');
  assert.deepEqual(Object(asked.data).questions, [QUESTION]);
  const answer = { resumeValue: { answers: { q1: 'For builders' } } };
  assert.equal((await api.post(`/v1/runs/${runId}/interrupts/a`, answer)).statusCode, 200);
  const { outputs, events } = await ended(api, runId);
  assert.deepEqual(outputs.payload, { title: 'Plan' });
  assert.equal(payloadsOf(events, 'provider.usage').length, 2);
  assertOrder(events, [
    'interrupt.requested',
    'clarification.requested',
    'clarification.resolved',
    'log.appended',
  ]);
  assert.match(only(events, 'interrupt.requested').causationId!, new RegExp(`^${runId}:a:env_`));
});

test('questions without end are a breach', async () => {
  const [api, runId] = await begun([make()], ...Array(4).fill(says(ASKS)));
  for (let round = 0; round < 3; round++) {
    await api.asks(runId);
    await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { answers: { q1: 'x' } } });
  }
  const { outputs, events } = await ended(api, runId);
  assert.deepEqual(outputs, { code: 'envelope_validation_failed' });
  const breach = { kind: 'clarification', limit: 3, observed: 4, nodeId: 'a' };
  assert.deepEqual(only(events, 'cap.breached').payload, breach);
});

test('a model is told a schema, gives up, or sends several at once', async () => {
  const wants = { type: 'schema.request', payload: { envelopeType: 'prd.create' } };
  const { outputs, events } = await made({}, says([wants]), says(PRD));
  assert.deepEqual(outputs.payload, { title: 'Plan' });
  assert.deepEqual(
    payloadsOf(events, 'log.appended').map(({ level }) => level),
    ['debug', 'info'],
  );
  const gave = await made({}, says({ type: 'error', payload: { code: 'unclear', message: 'I cannot.' } }));
  assert.equal(gave.run.status, 'completed');
  assert.equal(gave.outputs.envelopeType, 'error');
  assert.equal(only(gave.events, 'log.appended').payload.level, 'error');
});

test('a reader that asks for it gets what changed in a surface; the log has all of it', async () => {
  const [api, runId] = await begun([make({})], says(surface('text')), says(surface('heading')), says(PRD));
  const { events } = await ended(api, runId);
  const read = await api.get(`/v1/runs/${runId}/events?a2uiDelta=1`, { accept: 'application/json' });
  const surfacesOf = (all: readonly RunEventDoc[]) =>
    payloadsOf(all, 'log.appended').map(({ data }) => Object(data).payload);
  assert.deepEqual(surfacesOf(events).slice(0, 2), [surface('text').payload, surface('heading').payload]);
  const [first, second] = surfacesOf(read.json().events);
  assert.deepEqual(first, surface('text').payload);
  assert.deepEqual(second, {
    surfaceRef: `${runId}:a`,
    catalogVersion: '0.9.1',
    patch: [{ op: 'replace', path: '/surface/components/0/component', value: 'heading' }],
  });
  const address = await api.host.app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const stream = await fetch(`${address}/v1/runs/${runId}/events?a2uiDelta=1&streamMode=debug`, { headers });
  assert.equal((await stream.text()).split(JSON.stringify(second)).length, 2);
  assert.equal((await api.get(`/v1/runs/${runId}/events?a2uiDelta=2`)).statusCode, 400);
});

test('a surface is kept and the run goes on; one outside of the catalogue is not kept', async () => {
  const kept = await made({}, says(surface('text')), says(PRD));
  assert.deepEqual(kept.outputs.payload, { title: 'Plan' });
  const [first] = payloadsOf(kept.events, 'log.appended');
  assert.deepEqual(Object(first!.data).payload, surface('text').payload);
  const wrong = await made({}, says(surface('script')), says(PRD));
  assert.deepEqual(wrong.outputs.payload, { title: 'Plan' });
  assert.equal(payloadsOf(wrong.events, 'envelope.retry.attempted').length, 1);
  assert.equal(payloadsOf(wrong.events, 'log.appended').length, 1);
});

test('the same idempotency key gives the same envelope, and nobody is asked again', async () => {
  const one = node('a', MAKE, { idempotencyKey: 'k' });
  const api = await shared();
  await api.registered(workflow('twice', [one, node('b', MAKE, { idempotencyKey: 'k' })]));
  const configurable = { ai: { provider: 'scripted', script: [says(PRD)] } };
  const { events } = await ended(api, await api.start('twice', { configurable }));
  assert.equal(payloadsOf(events, 'provider.usage').length, 1);
  const [a, b] = payloadsOf(events, 'node.completed').map(({ outputs }) => Object(outputs).envelopeId);
  assert.equal(a, b);
});

const wait = (timeoutMs: number) => node('w', WAIT, { timeoutMs });
const outputOf = (events: readonly RunEventDoc[], nodeId: string): JsonObject =>
  Object(events.find((event) => event.type === 'node.completed' && event.nodeId === nodeId)?.payload.outputs);

test('a node waits for the envelope of another, and for no longer than it says', async () => {
  const [api, runId] = await begun([wait(600_000), make()], says(ASKS), says(PRD));
  await api.asks(runId);
  const waiting = await api.asks(runId, 'w');
  assert.deepEqual(waiting.data, { eventType: 'envelope', correlation: { envelopeType: 'prd.create' } });
  await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { answers: { q1: 'x' } } });
  const { events } = await ended(api, runId);
  assert.deepEqual(outputOf(events, 'w').payload, { title: 'Plan' });
  assert.equal(outputOf(events, 'w').envelopeId, outputOf(events, 'a').envelopeId);
  const late = await ended(...(await begun([wait(1)])));
  assert.deepEqual(outputOf(late.events, 'w'), { envelopeType: 'prd.create', timedOut: true });
});

test('an envelope that was there before is taken, by one wait alone', async () => {
  const edges = ['w', 'v'].map((targetNodeId) => ({ id: targetNodeId, sourceNodeId: 'a', targetNodeId }));
  const api = await shared();
  const nodes = [make(), wait(200), node('v', WAIT, { timeoutMs: 200 })];
  await api.registered(workflow('first', nodes, { edges }));
  const configurable = { ai: { provider: 'scripted', script: [says(PRD)] } };
  const { events } = await ended(api, await api.start('first', { configurable }));
  const both = ['w', 'v'].map((id) => outputOf(events, id).timedOut === true);
  assert.deepEqual(both.sort(), [false, true], JSON.stringify(events));
});

test('who was not first waits on, for what was left of its time', async () => {
  const waiting = ['v', 'w'].map((id) => node(id, WAIT, { timeoutMs: 600_000 }));
  const [api, runId] = await begun([...waiting, make()], says(ASKS), says(PRD));
  for (const id of ['a', 'v', 'w']) await api.asks(runId, id);
  await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { answers: { q1: 'x' } } });
  const asked: JsonObject[] = [];
  for (let last = -1; asked.length < 4; ) {
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const polled = (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
    assert.ok(polled.lastEventSeq > last, JSON.stringify(asked));
    asked.push(...payloadsOf(polled.events, 'interrupt.requested'));
    last = polled.lastEventSeq;
  }
  const [again] = asked.slice(3);
  assert.ok(Number(again!.timeoutMs) < 600_000, JSON.stringify(asked));
  assert.equal((await api.post(`/v1/runs/${runId}/cancel`, {})).statusCode, 200);
});

test('somebody sends the envelope that a node waits for', async () => {
  const [api, runId] = await begun([node('a', WAIT, { timeoutMs: 600_000 })]);
  await api.asks(runId);
  const send = (resumeValue: JsonObject) => api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue });
  assert.equal((await send({ envelopeType: 'other', payload: {} })).json().error, 'correlation_mismatch');
  assert.equal((await send({ envelopeType: 'prd.create', payload: { title: 'Mine' } })).statusCode, 200);
  const { outputs } = await ended(api, runId);
  assert.deepEqual(outputs.payload, { title: 'Mine' });
});

test('core nodes receive envelopes too', async () => {
  const outputSchema = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };
  const shaped = node('a', 'core.ai.structuredOutput', { prompt: 'Ok?', outputSchema });
  const [api, runId] = await begun([shaped], says(ASKS), says({ ok: true }));
  await api.asks(runId);
  await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { answers: { q1: 'x' } } });
  assert.deepEqual((await ended(api, runId)).outputs.output, { ok: true });
  const prompted = node('a', 'core.ai.callPrompt', { prompt: 'Write', envelopeType: 'prd.create' });
  const { outputs } = await ended(...(await begun([prompted], says(PRD))));
  assert.deepEqual([outputs.envelopeType, outputs.output], ['prd.create', { title: 'Plan' }]);
});

test('discovery and installs agree whether there are envelopes, and the refusal says how to get them', async (t) => {
  const pack = await packArchive({
    nodes: { [MAKE]: { body: 'return {};' } },
    manifest: { peerDependencies: { 'host.aiEnvelope': 'supported' } },
  });
  for (const [settings, offered] of [
    [{}, false],
    [{ testSeams: true }, true],
    [{ aiKeys: keyVariables({ OPENAI_API_KEY: 'sk-test-0123456789' }) }, true],
  ] as const) {
    const api = await packTest(t, { settings });
    const { aiEnvelope } = (await api.get('/.well-known/openwop')).json();
    assert.deepEqual(aiEnvelope, offered ? { supported: true, await: true } : undefined);
    const installed = await api.upload(pack.bytes);
    assert.equal(installed.statusCode, offered ? 201 : 400, installed.body);
    if (!offered) assert.match(installed.json().message, /gantry credentials add openai --provider openai/);
  }
});

test('discovery lists what runs receive, and where its schemas are', async () => {
  const api = await shared();
  const document = (await api.get('/.well-known/openwop')).json();
  const kinds = ['clarification.request', 'schema.request', 'schema.response', 'error'];
  assert.deepEqual(document.supportedEnvelopes, kinds);
  for (const kind of kinds) {
    assert.equal(document.schemaVersions[kind], 1);
    const response = await api.get(`/schemas/envelopes/${kind}.schema.json`);
    assert.match(String(response.headers['content-type']), /^application\/schema\+json/);
    assert.equal(response.json().type, 'object');
  }
  assert.equal((await api.get('/schemas/envelopes/ui.a2ui-surface.schema.json')).statusCode, 404);
  assert.equal(document.aiEnvelope, undefined, 'a script alone is no model');
  const profiles = profilesOf(document);
  for (const profile of ['openwop-interrupts', 'openwop-core-standard'] as const)
    assert.ok(profiles.includes(profile), profile);
});
