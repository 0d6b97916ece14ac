/** Streams and long polls end when their key is revoked or expires, here and on another process. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { NewKey } from '@gantry/protocol';
import { onEachDatabase } from '../testing/each-database.ts';
import { type ApiTest, apiTest, slow } from './testing/api-test.ts';

const KEYS = '/v1/host/gantry/keys';

interface Open {
  readonly response: IncomingMessage;
  /** What was sent until the stream ended. */
  readonly ended: Promise<string>;
}

async function opened(url: string, { key }: NewKey): Promise<Open> {
  const request = get(url, { agent: false, headers: { authorization: `Bearer ${key}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  return { response, ended: once(response, 'close').then(() => text) };
}

async function refused(url: string, key: NewKey): Promise<unknown> {
  const { response, ended } = await opened(url, key);
  return [response.statusCode, JSON.parse(await ended).error];
}

async function made(api: ApiTest, expiresInSeconds?: number): Promise<NewKey> {
  const body = { name: 'reader', scopes: ['runs:read'], ...(expiresInSeconds && { expiresInSeconds }) };
  return (await api.post(KEYS, body)).json();
}

onEachDatabase('a key that ends ends what it reads', async (t, settings) => {
  const clock = { at: Date.parse('2027-01-01T00:00:00Z') };
  const options = { settings, now: () => clock.at, workflows: [slow] };
  const api = await apiTest(t, options);
  const isShared = settings.databaseUrl !== undefined;
  const reading = isShared ? await apiTest(t, { ...options, workflows: [] }) : api;
  const address = await reading.host.app.listen({ host: '127.0.0.1', port: 0 });
  const runId = await api.start('slow');
  const beat = { workflowId: 'slow', intervalSec: 3_600 };
  const { heartbeatId } = (await api.post('/v1/host/gantry/heartbeats', beat)).json();
  const urls = [
    `${address}/v1/runs/${runId}/events`,
    `${address}/v1/runs/${runId}/events?streamMode=values`,
    `${address}/v1/host/gantry/heartbeats/${heartbeatId}/events`,
  ];
  const { lastEventSeq } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  const poll = `${address}/v1/runs/${runId}/events/poll?timeout=60&lastSequence=${lastEventSeq}`;
  const all = (key: NewKey) => Promise.all(urls.map((url) => opened(url, key)));

  const kept = await all(await made(api));
  const ends = {
    async key_expired() {
      clock.at += 1_000;
    },
    async key_revoked({ keyId }: NewKey) {
      await api.request({ method: 'DELETE', url: `${KEYS}/${keyId}` });
    },
  };
  for (const [code, end] of Object.entries(ends)) {
    const key = await made(api, code === 'key_expired' ? 1 : undefined);
    const streams = await all(key);
    assert.ok(streams.every(({ response }) => response.statusCode === 200));
    const polling = refused(poll, key);
    await end(key);
    assert.deepEqual(await polling, [401, code]);
    for (const { ended } of streams) await ended;
    assert.deepEqual(await refused(urls[0]!, key), [401, code]);
  }
  assert.ok(kept.every(({ response }) => !response.complete));
  await api.post(`/v1/runs/${runId}/cancel`, {});
  assert.match(await kept[0]!.ended, /run\.cancelled/);
  for (const { response } of kept) response.destroy();
});
