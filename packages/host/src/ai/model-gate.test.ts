/** Nodes of packs that need something of a model, through the front door. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { only, payloadsOf, typesOf } from '../testing/run-events.ts';

const TYPE = 'vendor.acme.ask';
const BODY = `
  ctx.log('info', 'begun');
  const { provider, text } = await ctx.callAI({ messages: [{ role: 'user', content: 'Hello' }] });
  if (ctx.attempt === 0) throw Object.assign(new Error('once'), { retryable: true });
  return { provider, text };`;

/** Of its models nothing is known, and nobody is asked before a call. */
const PLAIN = { id: 'plain', url: 'http://127.0.0.1:9/v1', models: ['small'] };

const shared = onePerFile(async (t) => {
  const { path, remove } = await temporaryFolder();
  t.after(remove);
  await writeFile(`${path}/ai.json`, JSON.stringify({ endpoints: [PLAIN] }));
  return sharedPackTest(t, { settings: { testSeams: true, ai: `${path}/ai.json` } });
});

async function dispatched(more: JsonObject, provider: string) {
  const api = await shared();
  await api.install({ nodes: { [TYPE]: { role: 'side-effect', body: BODY, more } } });
  const settings = { maxRetries: 1, backoffMs: 1 };
  await api.registered(workflow('ask', [node('a', TYPE, {}, { settings })]));
  const runId = await api.start('ask', { configurable: { ai: { provider } } });
  const run = await api.ended(runId);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  return { run, events: events as RunEventDoc[] };
}

test('a model that can do it is used, and nothing is told', async () => {
  const { run, events } = await dispatched({ requiredModelCapabilities: ['function-calling'] }, 'scripted');
  assert.equal(Object(run.outputs).provider, 'scripted', JSON.stringify(run));
  assert.ok(!typesOf(events).some((type) => type.startsWith('model.')));
});

test('a fallback that can do it serves every call of the node, and is told once', async () => {
  const needs = {
    requiredModelCapabilities: ['structured-output'],
    fallbackModel: { provider: 'scripted', model: 'echo' },
  };
  const { run, events } = await dispatched(needs, 'plain');
  assert.deepEqual(run.outputs, { provider: 'scripted', text: 'Hello' }, JSON.stringify(run));
  const { payload, sequence } = only(events, 'model.capability.substituted');
  assert.deepEqual(payload, {
    nodeId: 'a',
    originalProvider: 'plain',
    originalModel: 'small',
    fallbackProvider: 'scripted',
    fallbackModel: 'echo',
    missingCapabilities: ['structured-output'],
  });
  assert.ok(sequence < events.find(({ type }) => type === 'log.appended')!.sequence);
});

test('without a model that can do it the node is not dispatched', async () => {
  const cases: [JsonObject, string, boolean][] = [
    [{ requiredModelCapabilities: ['reasoning'] }, 'scripted', false],
    // No credential for it
    [{ fallbackModel: { provider: 'anthropic', model: 'claude-opus-4-5' } }, 'plain', true],
    // It lacks the same, and no third one is tried
    [{ fallbackModel: { provider: 'scripted', model: 'echo' } }, 'plain', true],
  ];
  for (const [more, provider, fallbackAttempted] of cases) {
    const { run, events } = await dispatched({ requiredModelCapabilities: ['reasoning'], ...more }, provider);
    const { code, message } = Object(run.error);
    assert.equal(code, 'capability_not_provided');
    assert.match(message, /needs a model with reasoning.*gantry ai providers/);
    assert.deepEqual(typesOf(events), [
      'run.started',
      'node.started',
      'model.capability.insufficient',
      'node.failed',
      'run.failed',
    ]);
    const [payload] = payloadsOf(events, 'model.capability.insufficient');
    assert.equal(payload!.fallbackAttempted, fallbackAttempted);
    assert.deepEqual(payload!.missingCapabilities, ['reasoning']);
  }
});

test('discovery says what is gated', async () => {
  const { modelCapabilities } = (await (await shared()).get('/.well-known/openwop')).json();
  assert.deepEqual(modelCapabilities, {
    supported: true,
    advertised: ['discriminator-enum', 'function-calling', 'structured-output'],
    substitutionSupported: true,
  });
});
