import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { anthropicMessages } from '../../../../ai/src/testing/anthropic.ts';
import { startModelServer } from '../../../../ai/src/testing/model-server.ts';
import { temporaryFolder } from '../../testing/host-process.ts';
import { onePerFile } from '../../testing/one-per-file.ts';
import { seamTest } from './testing/seam-test.ts';

const shared = onePerFile(async (lifetime) => {
  const server = await startModelServer(anthropicMessages);
  lifetime.after(() => server.close());
  const folder = await temporaryFolder();
  lifetime.after(folder.remove);
  const ai = `${folder.path}/ai.json`;
  const endpoints = [{ id: 'lab', family: 'anthropic', url: server.baseUrl, tenants: ['*'] }];
  await writeFile(ai, JSON.stringify({ endpoints }));
  return { ...(await seamTest(lifetime, { settings: { ai } })), server };
});
const SEAMS = '/v1/host/sample';

test('a model is asked by a node of a run, and what it cannot take is refused', async () => {
  const api = await shared();
  const said = await api.drive('ai/call', {
    provider: 'scripted',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi there' }] }],
  });
  assert.equal(said.content, 'Hi there');
  const picture = { type: 'image', mimeType: 'image/png', dataBase64: 'iVBORw0KGgo=' };
  const messages = [{ role: 'user', content: [picture] }];
  const refused = await api.post(`${SEAMS}/ai/call`, { provider: 'scripted', messages });
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'unsupported_modality']);
  const nobody = await api.post(`${SEAMS}/ai/call`, { messages });
  assert.equal(nobody.json().error, 'provider_unavailable');
});

test('speech has an address and the voice that was asked for; a host without it says so', async () => {
  const api = await shared();
  const { audio } = (await api.drive('ai/call-speech-synthesizer', {
    provider: 'scripted',
    text: 'Hello',
    voiceId: 'v1',
  })) as { audio: Record<string, string> };
  assert.deepEqual([audio.mimeType, audio.voiceId, audio.base64], ['audio/wav', 'v1', undefined]);
  const { pathname } = new URL(audio.url!, 'http://host');
  assert.equal((await api.get(pathname)).statusCode, 200);
  const none = await api.post(`${SEAMS}/ai/call-speech-synthesizer`, { text: 'Hello', voiceId: 'v1' });
  assert.deepEqual([none.statusCode, none.json().error], [400, 'speech_synthesis_unsupported']);
  const live = await api.post(`${SEAMS}/ai/call-transcriber`, { audio: { streamRef: 'stream:a/mic' } });
  assert.deepEqual([live.statusCode, live.json().error], [400, 'transcription_unsupported']);
});

test('media are kept by a run, and read by their address in its tenant alone', async () => {
  const api = await shared();
  const data = Buffer.from('not really a picture');
  const put = { contentBase64: data.toString('base64'), contentType: 'image/png' };
  const stored = await api.post(`${SEAMS}/media/put`, put);
  assert.equal(stored.statusCode, 201, stored.body);
  const { url, bytes } = stored.json();
  assert.deepEqual([url.startsWith(`${SEAMS}/assets/`), bytes], [true, data.byteLength]);
  const served = await api.get(url);
  assert.deepEqual(
    [served.statusCode, served.headers['content-type'], served.body],
    [200, 'image/png', String(data)],
  );
  const made = await api.post('/v1/host/gantry/keys', { name: 'r', tenant: 'other', scopes: ['runs:read'] });
  const other = { authorization: `Bearer ${made.json().key}` };
  for (const [asked, headers] of [
    [url, other],
    [`${SEAMS}/assets/never-made`, {}],
  ])
    assert.equal((await api.get(asked, headers)).statusCode, 404);
});

test('a prefix that the provider keeps is read by its tenant alone, and changes only the cost', async () => {
  const api = await shared();
  const question = { type: 'clarification.request', payload: { questions: [{ id: 'q', question: 'Why?' }] } };
  api.server.play('m', Array(5).fill({ text: JSON.stringify(question, null, 1) }));
  const asked = {
    provider: 'lab',
    model: 'm',
    envelopeType: 'clarification.request',
    systemPrompt: 'Rules.',
  };
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'o',
    tenant: 'other',
    scopes: ['runs:create'],
  });
  const other = { authorization: `Bearer ${made.json().key}` };
  const generate = async (more: object, headers = {}) => {
    const response = await api.post(`${SEAMS}/ai/generate`, { tenantId: 'a', ...asked, ...more }, headers);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  const answers = [
    await generate({}),
    await generate({ cachePrefixId: 'p' }),
    await generate({ cachePrefixId: 'p' }),
    await generate({ cachePrefixId: 'p', tenantId: 'b' }),
    await generate({ cachePrefixId: 'p' }, other),
  ];
  assert.deepEqual(
    answers.map(({ usage }) => [usage.cacheWriteTokens > 0, usage.cacheReadTokens > 0]),
    [
      [false, false],
      [true, false],
      [false, true],
      [true, false],
      [true, false],
    ],
  );
  const tokens = answers.map(({ usage }) => [usage.inputTokens, usage.outputTokens].join());
  assert.equal(new Set(tokens).size, 1);
  assert.deepEqual(answers[4].envelope, { envelopeType: question.type, payload: question.payload });
  const { aiProviders } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual(aiProviders.promptPrefixCache, { supported: true, providers: ['lab'] });
});

test('usage is told by a run, and never with a credential', async () => {
  const api = await shared();
  const payload = { provider: 'anthropic', model: 'm', inputTokens: 200, outputTokens: 80 };
  await api.drive('test/emit-provider-usage', { runId: 'r-u', payload, correlationId: 'c-u', nodeId: 'n1' });
  const { events } = (await api.get(`${SEAMS}/test/runs/r-u/events?type=provider.usage`)).json();
  assert.equal(events.length, 1);
  assert.deepEqual(
    [events[0].payload.inputTokens, events[0].causationId, events[0].nodeId],
    [200, 'c-u', 'n1'],
  );
  const leak = { ...payload, nodeId: 'secret:tenant:key:v1' };
  const refused = await api.post(`${SEAMS}/test/emit-provider-usage`, { runId: 'r-l', payload: leak });
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'provider_usage_credential_leak']);
});
