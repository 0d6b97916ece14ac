/** Pack code that asks models for vectors and media. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { gemini } from '../../../ai/src/testing/gemini.ts';
import { type ModelServer, startModelServer } from '../../../ai/src/testing/model-server.ts';
import { ollama } from '../../../ai/src/testing/openai-chat.ts';
import { openaiResponses } from '../../../ai/src/testing/openai-responses.ts';
import { sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { payloadsOf } from '../testing/fixture-host.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { keyVariables } from './providers/key-offers.ts';

const TYPE = 'vendor.acme.media';
const KEYS = { OPENAI_API_KEY: 'sk-openai-canary-0002', GEMINI_API_KEY: 'gm-canary-0003' };

const shared = onePerFile(async (t) => {
  const [openai, google, lab] = (await Promise.all(
    [openaiResponses, gemini, ollama].map(startModelServer),
  )) as [ModelServer, ModelServer, ModelServer];
  t.after(() => Promise.all([openai, google, lab].map((server) => server.close())));
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const file = `${folder.path}/ai.json`;
  const endpoints = [
    { id: 'openai', url: openai.baseUrl },
    { id: 'gemini', url: google.baseUrl },
    { id: 'lab', url: lab.baseUrl, models: ['small'], embeddingModels: ['vectors'] },
  ];
  await writeFile(file, JSON.stringify({ endpoints }));
  const api = await sharedPackTest(t, { settings: { ai: file, aiKeys: keyVariables(KEYS) } });
  return { api, servers: { openai, gemini: google, lab } };
});

async function asked(body: string, ai: JsonObject = { provider: 'scripted' }, retries = 0) {
  const { api, servers } = await shared();
  await api.install({ nodes: { [TYPE]: { role: 'side-effect', body } } });
  const settings = { maxRetries: retries, backoffMs: 1 };
  await api.registered(workflow('media', [node('a', TYPE, {}, { settings })]));
  const runId = await api.start('media', { configurable: { ai } });
  const run = await api.ended(runId);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  return { api, servers, runId, run, events: events as RunEventDoc[] };
}

const outputsOf = <T = JsonObject>({ run }: { run: JsonObject }): T => {
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  return run.outputs as T;
};

test('embeddings in every spelling, the same each time', async () => {
  const body = `
    const near = await ctx.callEmbeddings({ values: ['a red boat', 'the red boat', 'tax law'], dimensions: 64 });
    const mode = await ctx.callAI({ embeddingMode: true, messages: [{ role: 'user', content: 'a red boat' }], dimensions: 64 });
    const member = await ctx.callAI.embeddings({ text: 'a red boat' });
    const nested = await ctx.aiProviders.callEmbeddings({ input: ['x', 'y'] });
    const chat = await ctx.callAI({ embeddingMode: false, messages: [{ role: 'user', content: 'Hi' }] });
    const dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);
    const [one, two, three] = near.embeddings;
    return { same: dot(one, mode.embedding), like: dot(one, two), unlike: dot(one, three), member: member.embedding.length,
      nested: nested.embeddings.length, usage: near.usage, model: near.model, dimensions: mode.dimensions, chat: chat.text };`;
  const told = await asked(body);
  const { same, like, unlike, ...rest } = outputsOf<Record<string, number>>(told);
  assert.ok(Math.abs(same! - 1) < 1e-9 && like! > 0.5 && Math.abs(unlike!) < 0.5, JSON.stringify(told.run));
  assert.deepEqual(rest, {
    member: 256,
    nested: 2,
    usage: { inputTokens: 8, totalTokens: 8 },
    model: 'echo',
    dimensions: 64,
    chat: 'Hi',
  });
  assert.equal(payloadsOf(told.events, 'provider.usage').length, 5);
});

test('each family embeds; a run that chats elsewhere gets a provider that can', async () => {
  const body = `
    const from = async (ask) => (await ctx.callEmbeddings({ values: ['abcd'], ...ask })).provider;
    const named = [];
    for (const provider of ['openai', 'gemini', 'lab']) named.push(await from({ provider }));
    const code = await from({ provider: 'anthropic' }).catch((error) => error.code + ' ' + error.message);
    return { named, chosen: await from({}), code };`;
  const { run, servers, events, api, runId } = await asked(body, { provider: 'anthropic' });
  const { named, chosen, code } = outputsOf({ run });
  assert.deepEqual([named, chosen], [['openai', 'gemini', 'lab'], 'openai']);
  assert.match(String(code), /^provider_not_supported .*openai, gemini/);
  assert.equal(servers.openai.requests.at(-1)?.body.model, 'text-embedding-3-small');
  assert.equal(servers.lab.requests.at(-1)?.body.model, 'vectors');
  const spent = payloadsOf(events, 'provider.usage').reduce(
    (sum, usage) => sum + Number(usage.totalTokens),
    0,
  );
  assert.equal((await api.host.services.ai.ledger.ofRun('default', runId)).tokens, spent);
  assert.doesNotMatch(JSON.stringify([run, events]), /canary/);
  const { aiProviders } = (await api.get('/.well-known/openwop')).json();
  assert.equal(aiProviders.embeddings, 'supported');
});
