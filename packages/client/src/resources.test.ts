import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from './client.ts';
import { sendJson, startTestHost } from './testing/test-host.ts';

type Client = ReturnType<typeof createClient>;

const EMPTY = { webhooks: [], subscriptions: [], heartbeats: [], times: [] };

/** By what it says on the wire: one call a line. */
const CALLS: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  ['GET /v1/host/gantry/interrupts?before=r&limit=5', (c) => c.interrupts.list({ before: 'r', limit: 5 })],
  ['GET /v1/runs/r/interrupts/a%2Fb', (c) => c.interrupts.get('r', 'a/b')],
  ['POST /v1/runs/r/interrupts/n {"resumeValue":{"a":1}}', (c) => c.interrupts.resolve('r', 'n', { a: 1 })],
  [
    'POST /v1/host/gantry/runs/r/interrupts/a%2Fb/links {"person":"ada"}',
    (c) => c.interrupts.link('r', 'a/b', 'ada'),
  ],
  ['GET /v1/interrupts/t.k', (c) => c.interrupts.getToken('t.k')],
  ['POST /v1/interrupts/t.k {"resumeValue":"x"}', (c) => c.interrupts.resolveToken('t.k', 'x')],
  ['GET /v1/webhooks', (c) => c.webhooks.list()],
  ['GET /v1/webhooks/w', (c) => c.webhooks.get('w')],
  ['POST /v1/webhooks {"url":"u","events":["*"]}', (c) => c.webhooks.register({ url: 'u', events: ['*'] })],
  ['DELETE /v1/webhooks/w', (c) => c.webhooks.unregister('w')],
  ['POST /v1/host/gantry/webhooks/w:resume {}', (c) => c.webhooks.resume('w')],
  ['POST /v1/host/gantry/webhooks/w:rotate-secret {}', (c) => c.webhooks.rotateSecret('w')],
  [
    'GET /v1/host/gantry/webhooks/w/deliveries?state=dead&limit=2',
    (c) => c.webhooks.deliveries('w', { state: 'dead', limit: 2 }),
  ],
  ['POST /v1/host/gantry/webhooks/w/deliveries/d:resend {}', (c) => c.webhooks.resend('w', 'd')],
  ['GET /v1/host/gantry/schedules?limit=3', (c) => c.schedules.list({ limit: 3 })],
  ['GET /v1/host/gantry/schedules/s', (c) => c.schedules.get('s')],
  [
    'POST /v1/host/gantry/schedules {"workflowId":"w","cron":"* * * * *"}',
    (c) => c.schedules.create({ workflowId: 'w', cron: '* * * * *' }),
  ],
  ['DELETE /v1/host/gantry/schedules/s', (c) => c.schedules.remove('s')],
  ['POST /v1/host/gantry/schedules/s:pause {}', (c) => c.schedules.pause('s')],
  ['POST /v1/host/gantry/schedules/s:resume {}', (c) => c.schedules.resume('s')],
  ['GET /v1/host/gantry/schedules/s/next?count=2', (c) => c.schedules.next('s', { count: 2 })],
  [
    'POST /v1/host/gantry/schedules:preview {"cron":"0 9 * * *","count":1}',
    (c) => c.schedules.preview({ cron: '0 9 * * *', count: 1 }),
  ],
  ['GET /v1/host/gantry/heartbeats', (c) => c.heartbeats.list()],
  ['GET /v1/host/gantry/heartbeats/h', (c) => c.heartbeats.get('h')],
  [
    'POST /v1/host/gantry/heartbeats {"workflowId":"w","intervalSec":60}',
    (c) => c.heartbeats.create({ workflowId: 'w', intervalSec: 60 }),
  ],
  ['DELETE /v1/host/gantry/heartbeats/h', (c) => c.heartbeats.remove('h')],
  ['GET /v1/host/gantry/heartbeats/h/ticks?limit=1', (c) => c.heartbeats.ticks('h', { limit: 1 })],
  ['GET /v1/trigger-subscriptions', (c) => c.triggers.list()],
  ['GET /v1/trigger-subscriptions/t', (c) => c.triggers.get('t')],
  [
    'POST /v1/trigger-subscriptions {"source":"form","workflowId":"w"}',
    (c) => c.triggers.register({ source: 'form', workflowId: 'w' }),
  ],
  [
    'POST /v1/trigger-subscriptions {"source":"queue","workflowId":"w","topic":"orders"}',
    (c) => c.triggers.registerQueue({ workflowId: 'w', topic: 'orders' }),
  ],
  ['DELETE /v1/trigger-subscriptions/t', (c) => c.triggers.unregister('t')],
  ['POST /v1/host/gantry/trigger-subscriptions/t:pause {}', (c) => c.triggers.pause('t')],
  ['POST /v1/host/gantry/trigger-subscriptions/t:resume {}', (c) => c.triggers.resume('t')],
  ['POST /v1/host/gantry/trigger-subscriptions/t:rotate-secret {}', (c) => c.triggers.rotateSecret('t')],
  [
    'GET /v1/host/gantry/trigger-subscriptions/t/deliveries?cursor=c',
    (c) => c.triggers.deliveries('t', { cursor: 'c' }),
  ],
  ['GET /v1/host/gantry/dead-letters?before=d', (c) => c.deadLetters.list({ before: 'd' })],
  ['GET /v1/host/gantry/dead-letters/d', (c) => c.deadLetters.get('d')],
  ['POST /v1/host/gantry/dead-letters/d:retry {}', (c) => c.deadLetters.retry('d')],
  ['DELETE /v1/host/gantry/dead-letters/d', (c) => c.deadLetters.acknowledge('d')],
];

test('each method speaks to its endpoint, and what changes something carries a key of its own', async (t) => {
  const host = await startTestHost(t, (_request, response) => sendJson(response, 200, EMPTY));
  const client = createClient({ baseUrl: host.url, apiKey: 'secret' });
  for (const [, call] of CALLS) await call(client);
  assert.deepEqual(
    host.seen.map(({ method, url, body }) => `${method} ${url} ${body}`.trim()),
    CALLS.map(([line]) => line),
  );
  const keys = host.seen.map(({ method, headers }) => [method, headers['idempotency-key']] as const);
  assert.ok(keys.every(([method, key]) => (method === 'GET') === (key === undefined)));
  const sent = keys.flatMap(([, key]) => key ?? []);
  assert.equal(new Set(sent).size, sent.length);
});

test('a change whose answer is lost is repeated with the same key', async (t) => {
  let calls = 0;
  const host = await startTestHost(t, (_request, response) => {
    if (calls++ === 0) response.destroy();
    else sendJson(response, 200, {});
  });
  const client = createClient({ baseUrl: host.url, retry: { baseMs: 1 } });
  await client.webhooks.unregister('w');
  const [first, second] = host.seen.map(({ headers }) => headers['idempotency-key']);
  assert.ok(first);
  assert.equal(first, second);
});
