import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onePerFile } from '../../testing/one-per-file.ts';
import { seamTest } from './testing.ts';

const shared = onePerFile((lifetime) => seamTest(lifetime));
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
