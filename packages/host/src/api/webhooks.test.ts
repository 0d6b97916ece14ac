import assert from 'node:assert/strict';
import { createHmac, hash } from 'node:crypto';
import { test } from 'node:test';
import { PUBLIC_POLICY } from '@gantry/egress';
import { systemCaller } from '@gantry/resources';
import { type Received, receiver } from '../webhooks/testing/receiver.ts';
import { createWorld } from '../webhooks/testing/world.ts';
import { assertError } from './testing/api-test.ts';

const EVENTS = ['run.completed'];

function assertSigned({ headers, body }: Received, secret: string): void {
  const timestamp = headers['x-openwop-timestamp'];
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  assert.equal(headers['x-openwop-signature'], `sha256=${expected}`);
}

test('an event reaches its subscriber signed, with every header under both names', async (t) => {
  const world = await createWorld(t);
  const { url, got } = await receiver(t);
  const { webhookId, secret, secretFingerprint } = await world.register({ url, events: EVENTS });
  assert.match(webhookId, /^wh_/);
  assert.match(secret, /^[0-9a-f]{64}$/);
  assert.equal(secretFingerprint, hash('sha256', secret, 'hex').slice(0, 8));

  const { runId } = await world.happen(['run.started', 'run.completed']);
  const [delivery] = await got(1);
  assert.ok(delivery);
  assertSigned(delivery, secret);
  const body = JSON.parse(delivery.body);
  assert.deepEqual([body.runId, body.workspaceId, body.type], [runId, 'acme', 'run.completed']);
  const { eventId, sequence, payload, type } = body.event;
  assert.deepEqual(
    { eventId, sequence, payload, type },
    { eventId: `${runId}.1`, sequence: 1, payload: { n: 1 }, type: 'run.completed' },
  );
  assert.ok(!delivery.body.includes('never leaves'));
  const { headers } = delivery;
  assert.match(headers['user-agent'] ?? '', /^openwop-webhook-dispatcher\/\d/);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-openwop-webhook-id'], webhookId);
  assert.equal(headers['x-openwop-event-type'], 'run.completed');
  assert.equal(headers['x-openwop-timestamp'], String(Math.floor(world.now() / 1000)));
  assert.equal(headers['x-openwop-signature-algorithm'], 'v1');
  for (const name of [
    'webhook-id',
    'event-type',
    'timestamp',
    'signature',
    'signature-algorithm',
    'delivery-id',
  ]) {
    assert.equal(headers[`openwop-${name}`], headers[`x-openwop-${name}`], name);
  }
  const done = (list: { state: string }[]) => list.every(({ state }) => state === 'delivered');
  const [listed] = await world.until(() => world.deliveries(webhookId), done);
  assert.equal(listed?.deliveryId, headers['x-openwop-delivery-id']);
  assert.deepEqual([listed?.attempts, listed?.lastStatus, listed?.runId], [1, 204, runId]);
});

test('events can be named by prefix or all, runs by their tags, and a commit is told in its order', async (t) => {
  const world = await createWorld(t);
  const all = await receiver(t);
  const nodes = await receiver(t);
  const tagged = await receiver(t);
  await world.register({ url: all.url, events: ['*'] });
  await world.register({ url: nodes.url, events: ['node.*'] });
  await world.register({ url: tagged.url, events: EVENTS, tags: ['production', 'eu'] });
  const types = ['run.started', 'node.started', 'nodes.other', 'node.completed', 'run.completed'];
  await world.happen(types, { tags: ['staging'] });
  world.pass(1);
  const { runId } = await world.happen(EVENTS, { tags: ['eu', 'x'] });
  const typesOf = (list: readonly Received[]) => list.map(({ body }) => JSON.parse(body).type);
  assert.deepEqual(typesOf(await all.got(6)), [...types, 'run.completed']);
  assert.deepEqual(typesOf(await nodes.got(2)), ['node.started', 'node.completed']);
  const [only, ...others] = await tagged.got(1);
  assert.equal(JSON.parse(only?.body ?? '').runId, runId);
  assert.deepEqual(others, []);
});

test('tenants neither hear, see nor change each other', async (t) => {
  const world = await createWorld(t);
  const { url, got, received } = await receiver(t);
  const { webhookId } = await world.register({ url, events: ['*'] });
  const other = await world.key('other');
  await world.happen(EVENTS, { owner: { tenant: 'other' } });
  const { runId } = await world.happen(EVENTS);
  await got(1);
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body).runId),
    [runId],
  );

  assert.deepEqual((await world.request('GET', '/v1/webhooks', { key: other })).json(), {
    webhooks: [],
    subscriptions: [],
  });
  for (const [method, path] of [
    ['GET', `/v1/webhooks/${webhookId}`],
    ['DELETE', `/v1/webhooks/${webhookId}`],
    ['GET', `/v1/host/gantry/webhooks/${webhookId}/deliveries`],
    ['POST', `/v1/host/gantry/webhooks/${webhookId}:resume`],
    ['POST', `/v1/host/gantry/webhooks/${webhookId}:rotate-secret`],
  ] as const) {
    const body = path.endsWith('rotate-secret') ? { body: {} } : {};
    assertError(await world.request(method, path, { key: other, ...body }), 404, 'subscription_not_found');
  }
  const stolen = { url, events: ['*'], tenantId: 'acme' };
  assertError(await world.request('POST', '/v1/webhooks', { key: other, body: stolen }), 403, 'forbidden');
  const unscoped = await world.key('acme', ['runs:read']);
  const refused = await world.request('GET', '/v1/webhooks', { key: unscoped });
  assertError(refused, 403, 'forbidden', { scopeRequired: 'webhooks:manage' });
});

test('what cannot be a receiver is refused when it is registered', async (t) => {
  const world = await createWorld(t, {
    policy: PUBLIC_POLICY,
    lookup: async (name) => (name === 'rebound.example' ? ['93.184.215.14', '10.0.0.7'] : ['93.184.215.14']),
  });
  const refused = {
    'http://example.com/': 'scheme_not_allowed',
    'ftp://example.com/': 'scheme_not_allowed',
    'https://127.0.0.1/': 'address_not_allowed',
    'https://2130706433/': 'address_not_allowed',
    'https://10.1.2.3/': 'address_not_allowed',
    'https://169.254.169.254/latest/meta-data': 'address_not_allowed',
    'https://[::1]/': 'address_not_allowed',
    'https://[fd00::1]/': 'address_not_allowed',
    'https://localhost/': 'host_not_allowed',
    'https://metadata.google.internal/': 'host_not_allowed',
    'https://user:pass@example.com/': 'credentials_in_url',
    'https://rebound.example/': 'address_not_allowed',
    'not a url': 'url_invalid',
  };
  for (const [url, reason] of Object.entries(refused)) {
    const response = await world.request('POST', '/v1/webhooks', { body: { url, events: EVENTS } });
    assertError(response, 400, 'webhook_url_rejected', { reason });
    const alone = await world.request('POST', '/v1/webhooks', { body: { url } });
    assertError(alone, 400, 'webhook_url_rejected', { reason });
    assert.ok(!response.body.includes('pass@'));
  }
  await world.register({ url: 'https://example.com/hook', events: EVENTS, tenantId: 'acme' });
  for (const body of [
    { url: 'https://example.com/', events: [] },
    { url: 'https://example.com/' },
    { url: 'https://example.com/', events: ['run.*.x'] },
    { url: 'https://example.com/', events: EVENTS, secret: 'mine' },
  ]) {
    assertError(await world.request('POST', '/v1/webhooks', { body }), 400, 'validation_error');
  }
  const events = ['run.complte', 'run.completed', 'run.*', 'rnu.*'];
  const slips = await world.request('POST', '/v1/webhooks', {
    body: { url: 'https://example.com/', events },
  });
  assertError(slips, 400, 'validation_error', {
    fields: [
      { field: 'events/0', problem: 'Unknown event type "run.complte". Did you mean run.completed?' },
      { field: 'events/3', problem: 'Unknown event type "rnu.*". Did you mean run.*?' },
    ],
  });
  const { webhooks } = (await world.request('GET', '/v1/webhooks')).json();
  assert.equal(webhooks.length, 1);
});

test('the secret is shown once: in no list, no record, no log and not at rest', async (t) => {
  const world = await createWorld(t);
  const { url, got } = await receiver(t);
  const headers = { 'idempotency-key': 'k1' };
  const body = { url, events: EVENTS };
  const first = await world.request('POST', '/v1/webhooks', { body, headers });
  assert.equal(first.statusCode, 201, first.body);
  const { secret, webhookId } = first.json();
  const again = await world.request('POST', '/v1/webhooks', { body, headers });
  assertError(again, 409, 'conflict');
  assert.equal(again.headers['openwop-idempotent-replay'], 'true');
  await world.happen(EVENTS);
  await got(1);
  await world.until(
    () => world.deliveries(webhookId, '?state=delivered'),
    (list) => list.length === 1,
  );
  const answers = await Promise.all(
    ['/v1/webhooks', `/v1/webhooks/${webhookId}`, `/v1/host/gantry/webhooks/${webhookId}/deliveries`].map(
      async (path) => (await world.request('GET', path)).body,
    ),
  );
  assert.equal(JSON.parse(answers[0] ?? '').webhooks.length, 1);
  const stored = await world.store.entries.all('webhook', null, 10);
  for (const text of [...answers, ...world.logged, again.body, JSON.stringify(stored)]) {
    assert.ok(!text.includes(secret), text);
  }
  assert.ok(JSON.parse(stored[0]?.body ?? '').secret.sealed);
});

test('a deleted subscription gets nothing more, and a second delete finds nothing', async (t) => {
  const world = await createWorld(t);
  const gone = await receiver(t);
  const kept = await receiver(t);
  const { webhookId } = await world.register({ url: gone.url, events: EVENTS });
  await world.register({ url: kept.url, events: EVENTS });
  const deleted = await world.request('DELETE', `/v1/webhooks/${webhookId}?tenantId=acme`);
  assert.deepEqual([deleted.statusCode, deleted.body], [204, '']);
  await world.happen(EVENTS);
  await kept.got(1);
  assert.deepEqual(gone.received, []);
  assertError(await world.request('DELETE', `/v1/webhooks/${webhookId}`), 404, 'subscription_not_found');
});

test('a tenant has a hundred subscriptions at most, however many ask at once', async (t) => {
  const world = await createWorld(t);
  const body = { url: 'http://127.0.0.1:9999/', events: EVENTS };
  const other = world.another();
  const caller = systemCaller('other', { tenant: 'acme' });
  const elsewhere = Array.from({ length: 50 }, () => other.service.register(caller, body));
  const answers = await Promise.all(
    Array.from({ length: 105 }, () => world.request('POST', '/v1/webhooks', { body })),
  );
  const made = (await Promise.allSettled(elsewhere)).filter(({ status }) => status === 'fulfilled').length;
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length + made, 100);
  const refused = answers.find(({ statusCode }) => statusCode !== 201);
  assert.ok(refused);
  assertError(refused, 409, 'conflict', { limit: 100 });
});

test('deliveries are listed newest first, by state and by pages', async (t) => {
  const world = await createWorld(t);
  const { url } = await receiver(t, (response, i) => void response.writeHead(i === 1 ? 500 : 200).end());
  const { webhookId } = await world.register({ url, events: ['*'] });
  await world.happen(['a', 'b', 'c', 'd', 'e']);
  const isDone = (list: { state: string }[]) => list.every(({ state }) => state !== 'pending');
  const all = await world.until(() => world.deliveries(webhookId), isDone);
  assert.deepEqual(
    all.map(({ type }) => type),
    ['e', 'd', 'c', 'b', 'a'],
  );
  const [failed, ...others] = await world.deliveries(webhookId, '?state=failed');
  assert.deepEqual(
    [failed?.type, failed?.lastStatus, failed?.lastReason, others.length],
    ['b', 500, 'http_status', 0],
  );
  const types: string[] = [];
  for (let query: string | undefined = '?limit=2'; query; ) {
    const page: LightPage = (
      await world.request('GET', `/v1/host/gantry/webhooks/${webhookId}/deliveries${query}`)
    ).json();
    types.push(...page.deliveries.map(({ type }) => type));
    query = page.nextCursor && `?limit=2&cursor=${page.nextCursor}`;
  }
  assert.deepEqual(types, ['e', 'd', 'c', 'b', 'a']);
});

interface LightPage {
  readonly deliveries: { type: string }[];
  readonly nextCursor?: string;
}
