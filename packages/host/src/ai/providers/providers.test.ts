import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { anthropicMessages } from '../../../../ai/src/testing/anthropic.ts';
import { gemini } from '../../../../ai/src/testing/gemini.ts';
import { type ModelServer, startModelServer } from '../../../../ai/src/testing/model-server.ts';
import { ollama, openaiChat } from '../../../../ai/src/testing/openai-chat.ts';
import { openaiResponses } from '../../../../ai/src/testing/openai-responses.ts';
import { apiTest, assertPublic } from '../../api/testing/api-test.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { temporaryFolder } from '../../testing/host-process.ts';
import { type Lifetime, onePerFile } from '../../testing/one-per-file.ts';
import { payloadsOf } from '../../testing/run-events.ts';
import { peersOf } from './advertisement.ts';
import { keyVariables } from './key-offers.ts';

const KEYS = {
  ANTHROPIC_API_KEY: 'sk-ant-canary-0001-of-the-environment',
  OPENAI_API_KEY: 'sk-openai-canary-0002-of-the-environment',
  GEMINI_API_KEY: 'gm-canary-0003-of-the-environment',
};
const ask = workflow('ask', [node('ask', 'core.ai.callPrompt', {})]);

type Servers = Record<'anthropic' | 'openai' | 'gemini' | 'lab' | 'ollama', ModelServer>;

async function startServers(t: Lifetime): Promise<Servers> {
  const [anthropic, openai, google, lab, local] = await Promise.all(
    [anthropicMessages, openaiResponses, gemini, openaiChat, ollama].map(startModelServer),
  );
  const servers = { anthropic, openai, gemini: google, lab, ollama: local } as Servers;
  t.after(() => Promise.all(Object.values(servers).map((server) => server.close())));
  return servers;
}

const shared = onePerFile(async (t) => {
  const servers = await startServers(t);
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const config = {
    endpoints: [
      { id: 'anthropic', url: servers.anthropic.baseUrl, tenants: ['*'] },
      { id: 'openai', url: servers.openai.baseUrl },
      { id: 'gemini', url: servers.gemini.baseUrl },
      { id: 'lab', url: servers.lab.baseUrl, models: ['small', 'large'], price: { input: 1, output: 2 } },
      { id: 'unpriced', url: servers.lab.baseUrl, models: ['small'], embeddingModels: ['wide'] },
      { id: 'gone', url: 'http://127.0.0.1:9/v1', models: ['x'] },
    ],
    policies: [
      { provider: 'gemini', mode: 'restricted', allowedModels: ['gemini-2.5-*'] },
      { provider: 'mistral', mode: 'disabled' },
    ],
  };
  const file = `${folder.path}/ai.json`;
  await writeFile(file, JSON.stringify(config));
  const ollamaHost = new URL(servers.ollama.baseUrl).host;
  const settings = { ai: file, aiKeys: keyVariables(KEYS), ollamaHost };
  const api = await apiTest(t, { workflows: [ask], settings });
  const run = async (ai: JsonObject, inputs: JsonObject = { prompt: 'Hello' }): Promise<JsonObject> =>
    api.ended(await api.start('ask', { inputs, configurable: { ai } }));
  const play = (id: keyof Servers, model: string, text: string) => servers[id].play(model, [{ text }]);
  return { api, servers, run, play };
});

test('each provider is asked with the key of the environment, in its own header', async () => {
  const { api, servers, run, play } = await shared();
  const cases = [
    ['anthropic', 'claude-sonnet-5-5', 'x-api-key', KEYS.ANTHROPIC_API_KEY],
    ['openai', 'gpt-6.1-sol', 'authorization', `Bearer ${KEYS.OPENAI_API_KEY}`],
    ['gemini', 'gemini-2.5-flash', 'x-goog-api-key', KEYS.GEMINI_API_KEY],
  ] as const;
  for (const [provider, model, header, value] of cases) {
    play(provider, model, `I am ${provider}.`);
    const ended = await run({ provider });
    assert.equal(ended.status, 'completed', JSON.stringify(ended));
    assert.equal(servers[provider].requests.at(-1)?.headers[header], value);
    assert.match(JSON.stringify(ended), new RegExp(`I am ${provider}`));
    const events = (await api.get(`/v1/runs/${ended.runId}/events/poll?timeout=0`)).body;
    assert.doesNotMatch(events, /canary/);
  }
});

test('self-hosted endpoints and Ollama need no key, and nobody is told where they are', async () => {
  const { servers, run, play } = await shared();
  play('lab', 'small', 'From the lab.');
  const lab = await run({ provider: 'lab' });
  assert.equal(lab.status, 'completed', JSON.stringify(lab));
  assert.equal(servers.lab.requests.at(-1)?.headers.authorization, undefined);
  servers.ollama.media.models = ['llama3'];
  play('ollama', 'llama3', 'From Ollama.');
  const local = await run({ provider: 'ollama' });
  assert.equal(local.status, 'completed', JSON.stringify(local));
  const gone = await run({ provider: 'gone' });
  assert.equal(gone.status, 'failed');
  assert.doesNotMatch(JSON.stringify([lab, local, gone]), /127\.0\.0\.1/);
});

test('what cannot be asked is refused with what can', async () => {
  const { run } = await shared();
  const failure = async (ai: JsonObject) => Object((await run(ai)).error);
  const unknown = await failure({ provider: 'anthropc' });
  assert.equal(unknown.code, 'provider_not_supported');
  assert.match(unknown.message, /Did you mean anthropic\?/);
  const model = await failure({ provider: 'lab', model: 'huge' });
  assert.equal(model.code, 'model_not_supported');
  assert.match(model.message, /small, large/);
  const key = await failure({ provider: 'groq', model: 'x' });
  assert.equal(key.code, 'provider_unavailable');
  assert.match(key.message, /gantry credentials add groq --provider groq --audience api\.groq\.com/);
  const denied = await failure({ provider: 'gemini', model: 'gemini-4-argon' });
  assert.equal(denied.code, 'provider_policy_denied');
  assert.match(denied.message, /model_not_allowed/);
  assert.doesNotMatch(denied.message, /2\.5/);
  const off = await failure({ provider: 'mistral' });
  assert.match(off.message, /provider_disabled/);
});

test('a limit of cost needs a price, and says where to set it', async () => {
  const { api, servers } = await shared();
  const before = servers.lab.requests.length;
  const configurable = { ai: { provider: 'unpriced' }, budget: { maxCostUsd: 1 } };
  const { error } = await api.ended(await api.start('ask', { inputs: { prompt: 'x' }, configurable }));
  const { code, message } = Object(error);
  assert.equal(code, 'budget_model_denied');
  assert.match(message, /price of unpriced\/small is not known.*"prices".*GANTRY_AI/);
  assert.equal(servers.lab.requests.length, before);
});

test('a rejected key names the credential, and is not tried again', async () => {
  const { servers, run } = await shared();
  const server = servers.anthropic;
  server.play('claude-sonnet-5-5', [{ fault: '401' }]);
  const before = server.requests.length;
  const ended = await run({ provider: 'anthropic' });
  assert.equal(server.requests.length - before, 1);
  assert.match(JSON.stringify(ended.error), /gantry credentials rotate anthropic/);
  assert.doesNotMatch(JSON.stringify(ended), /canary/);
});

test('what a provider rejects for good is not asked again, and what was decided about the key is told', async () => {
  const { api, servers } = await shared();
  const settings = { maxRetries: 3, backoffMs: 1 };
  await api.registered(workflow('insist', [node('a', 'core.ai.callPrompt', { prompt: 'x' }, { settings })]));
  const server = servers.anthropic;
  const events = async (fault?: '400' | '401'): Promise<RunEventDoc[]> => {
    server.play('claude-sonnet-5-5', [{ text: 'Yes.', ...(fault && { fault }) }]);
    const runId = await api.start('insist', { configurable: { ai: { provider: 'anthropic' } } });
    await api.ended(runId);
    return (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json().events;
  };
  const before = server.requests.length;
  const rejected = await events('400');
  assert.equal(server.requests.length - before, 1);
  const [{ error }] = payloadsOf(rejected, 'node.failed') as [JsonObject];
  const { code, details } = error as { code: string; details: object };
  assert.deepEqual([code, details], ['provider_unavailable', { ...details, retriable: false, status: 400 }]);
  for (const log of [rejected, await events('401'), await events()]) {
    const [decided, ...more] = payloadsOf(log, 'egress.decided');
    assert.deepEqual([decided?.decision, decided?.destination, more], ['allowed', 'anthropic', []]);
    assert.doesNotMatch(JSON.stringify(decided), /canary|127\.0\.0\.1/);
    for (const event of log) assertPublic('run-event.schema.json', event);
  }
});

test('a key of the tenant is taken where it is named', async () => {
  const { api, servers, run, play } = await shared();
  const own = {
    ref: 'mine',
    provider: 'other',
    audiences: ['127.0.0.1'],
    value: 'sk-own-canary-0009-of-the-tenant',
  };
  assert.equal((await api.post('/v1/host/gantry/credentials', own)).statusCode, 201);
  play('anthropic', 'claude-sonnet-5-5', 'Yours.');
  const ended = await run({ provider: 'anthropic', credentialRef: 'mine' });
  assert.equal(ended.status, 'completed', JSON.stringify(ended));
  assert.equal(servers.anthropic.requests.at(-1)?.headers['x-api-key'], own.value);
  const elsewhere = { ...own, ref: 'elsewhere', audiences: ['api.example.com'] };
  await api.post('/v1/host/gantry/credentials', elsewhere);
  const refused = await run({ provider: 'anthropic', credentialRef: 'elsewhere' });
  assert.equal(refused.status, 'failed');
  assert.match(JSON.stringify(refused.error), /gantry credentials rotate elsewhere|audiences/);
});

test('media that a message names are checked before they are fetched', async () => {
  const { api } = await shared();
  const part = { type: 'image', mimeType: 'image/png', url: 'http://169.254.169.254/x.png' };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, part] }];
  await api.registered(workflow('look', [node('look', 'core.ai.callPrompt', { messages })]));
  const look = async (provider: string) =>
    api.ended(await api.start('look', { configurable: { ai: { provider } } }));
  const textOnly = await look('lab');
  assert.equal(Object(textOnly.error).code, 'unsupported_modality');
  const blocked = await look('anthropic');
  assert.equal(Object(blocked.error).code, 'ssrf_blocked', JSON.stringify(blocked.error));
});

test('discovery lists what answers, without keys or addresses', async () => {
  const { api } = await shared();
  const response = await api.get('/.well-known/openwop');
  const { aiProviders } = response.json();
  assert.deepEqual(aiProviders.selfHosted.includes('gone'), false);
  for (const id of ['anthropic', 'openai', 'gemini', 'lab', 'scripted', 'mock', 'stream-text'])
    assert.ok(aiProviders.supported.includes(id), id);
  assert.ok(!aiProviders.supported.includes('groq'));
  assert.deepEqual(aiProviders.byok, ['anthropic', 'openai', 'gemini']);
  assert.deepEqual(aiProviders.authModes.lab, ['none']);
  assert.deepEqual(aiProviders.supportedModels.lab, ['small', 'large']);
  assert.deepEqual(aiProviders.policies.modes, ['disabled', 'optional', 'required', 'restricted']);
  assert.doesNotMatch(JSON.stringify(aiProviders), /127\.0\.0\.1|canary/);
});

test('a provider that lists its models is listed for what they are known for', async () => {
  const { api } = await shared();
  const listed = (await api.get('/v1/host/gantry/ai/providers')).json().providers;
  const tasksOf = (id: string) => listed.find((one: JsonObject) => one.id === id).tasks;
  assert.deepEqual(tasksOf('lab'), ['chat']);
  assert.deepEqual(tasksOf('unpriced'), ['chat', 'embedding']);
  assert.ok(tasksOf('openai').includes('speech'));
});

test('a script alone satisfies no pack that needs a model; a provider does', () => {
  const scripted = { supported: ['scripted', 'mock', 'stream-text'] };
  assert.deepEqual(peersOf(scripted, false), []);
  const names = (advertised: JsonObject) => peersOf(advertised, false).map(([name]) => name);
  const real = { supported: ['anthropic', 'scripted'], toolCalling: 'supported' };
  assert.ok(names(real).includes('aiProviders'));
  assert.ok(names(real).includes('aiProviders.toolCalling'));
});
