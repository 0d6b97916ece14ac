import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { assertError } from './testing/api-test.ts';

const STALE = { 'if-match': '"99"' };

async function setUp(...args: Parameters<typeof packTest>) {
  const api = await packTest(...args);
  const send = (method: 'DELETE' | 'POST' | 'PUT', url: string, headers: object, body?: object) =>
    api.request({ method, url, headers: { ...headers }, ...(body && { body }) });
  return { ...api, send };
}

test('deleting and new secrets take If-Match, for webhooks and triggers alike', async (t) => {
  const api = await setUp(t);
  await api.registered(workflow('one', [node('a', 'core.noop')]));
  const webhook = await api.post('/v1/webhooks', { url: 'https://example.com/', events: ['run.*'] });
  const trigger = await api.post('/v1/trigger-subscriptions', { source: 'webhook', workflowId: 'one' });
  for (const [path, id] of [
    ['webhooks', webhook.json().webhookId],
    ['trigger-subscriptions', trigger.json().subscription.subscriptionId],
  ]) {
    const item = `/v1/${path}/${id}`;
    const rotate = `/v1/host/gantry/${path}/${id}:rotate-secret`;
    const before = (await api.get(item)).json();
    assertError(await api.send('POST', rotate, STALE, {}), 409, 'conflict', { currentVersion: 1 });
    assertError(await api.send('DELETE', item, STALE), 409, 'conflict', { currentVersion: 1 });
    const kept = await api.get(item);
    assert.deepEqual(kept.json(), before);
    const at = { 'if-match': String(kept.headers.etag) };
    assert.equal((await api.send('POST', rotate, at, {})).statusCode, 200);
    assertError(await api.send('DELETE', item, at), 409, 'conflict', { currentVersion: 2 });
    assert.equal((await api.send('DELETE', item, { 'if-match': '"2"' })).statusCode, 204);
  }
});

test('a path that does not check If-Match refuses it', async (t) => {
  const api = await setUp(t);
  const prompt = { templateId: 'greet', version: '1.0.0', kind: 'user', text: 'Hello' };
  assert.equal((await api.post('/v1/prompts', prompt)).statusCode, 201);
  const next = { ...prompt, version: '1.0.1' };
  assertError(await api.send('PUT', '/v1/prompts/greet', STALE, next), 400, 'validation_error');
  assertError(await api.send('DELETE', '/v1/prompts/greet', STALE), 400, 'validation_error');
  assert.equal((await api.get('/v1/prompts/greet')).json().version, '1.0.0');
  assert.equal((await api.send('PUT', '/v1/prompts/greet', { 'if-match': '*' }, next)).statusCode, 200);
});
