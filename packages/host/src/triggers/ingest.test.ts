import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type JsonObject, TRIGGER_LIMITS, type TriggerSubscriptionCreated } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { assertError, assertPublic } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { echo, signed, TENANT, type TriggersTest, triggersTest } from './testing/triggers-test.ts';

const BODY = JSON.stringify({ issue: { id: 42, title: 'Broken' } });
const DAY_MS = 86_400_000;

async function ingested(rig: TriggersTest, url: string, body: string, headers: Record<string, string>) {
  const response = await rig.send(url, body, headers);
  assert.equal(response.statusCode, 202, response.body);
  await rig.triggers.tick();
  return response.json();
}

async function deliveriesOf(rig: TriggersTest, subscriptionId: string): Promise<JsonObject[]> {
  const response = await rig.request(
    'GET',
    `/v1/host/gantry/trigger-subscriptions/${subscriptionId}/deliveries`,
  );
  assert.equal(response.statusCode, 200, response.body);
  return response.json().deliveries;
}

const hubSigned = (secret: string, body: string): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

/** The scheme is an addition of this host, so the public schema does not know it. */
async function subscribeGithub(rig: TriggersTest): Promise<TriggerSubscriptionCreated> {
  const verification = { scheme: 'github' };
  const body = { source: 'webhook', workflowId: 'echo', verification };
  const response = await rig.request('POST', '/v1/trigger-subscriptions', body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json();
}

test('a signed event starts a run that sees it, and the log does not', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe({
    source: 'webhook',
    workflowId: 'echo',
    inputMapping: { title: 'webhook.body.issue.title' },
  });
  const secrets = {
    authorization: 'Bearer hush',
    cookie: 'a=hush',
    'x-api-key': 'hush',
    'x-acme-event': 'opened',
  };
  const headers = { ...signed(binding.secret, BODY, rig.clock.at), ...secrets };
  const { deliveryId } = await ingested(rig, binding.ingestUrl, BODY, headers);

  const [delivery] = await deliveriesOf(rig, subscription.subscriptionId);
  assert.equal(delivery?.outcome, 'delivered');
  const { run } = await rig.ended(String(delivery.runId));
  assert.equal(run.status, 'completed');
  assert.deepEqual(run.outputs, { input: 42 });
  assert.equal(run.variables.title, 'Broken');
  const event = run.facts.triggerData;
  assertPublic('trigger-event.schema.json', event);
  assert.ok(event);
  assert.equal(event.verified, true);
  assert.deepEqual((event.webhook as JsonObject).headers, {
    'content-type': 'application/json',
    'user-agent': 'lightMyRequest',
    'x-acme-event': 'opened',
  });
  assert.ok(!JSON.stringify(event).includes('hush'));
  assert.equal(event.deliveryId, deliveryId);
  const [started, attempted] = await rig.store.runs.events(TENANT, run.facts.runId, 0, 2);
  assert.deepEqual([started?.type, attempted?.type], ['run.started', 'trigger.delivery.attempted']);
  assert.equal(started?.causationId, `${run.facts.runId}.1`);
  const { dedupKey, ...told } = JSON.parse(attempted!.payload);
  assert.deepEqual(told, {
    subscriptionId: event.subscriptionId,
    attempt: 1,
    outcome: 'delivered',
    runId: run.facts.runId,
  });
  assert.equal(dedupKey, event.dedupKey);
  assert.ok(
    !JSON.stringify([started, attempted]).includes('contentTrust'),
    'the event itself is not in the log',
  );
});

test('who lacks the secret is refused, on record, and learns no more', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe({ source: 'webhook', workflowId: 'echo' });
  const attempts = [
    {},
    signed('0'.repeat(64), BODY, rig.clock.at),
    signed(binding.secret, BODY, rig.clock.at - 301_000),
    signed(binding.secret, BODY, rig.clock.at + 301_000),
    { ...signed(binding.secret, BODY, rig.clock.at), 'x-openwop-timestamp': '' },
    { 'x-hub-signature-256': 'sha256=00' },
  ];
  const answers = new Set<string>();
  for (const headers of attempts) {
    const response = await rig.send(binding.ingestUrl, BODY, headers);
    assert.equal(response.statusCode, 401, JSON.stringify(headers));
    answers.add(response.body);
  }
  assert.equal(answers.size, 1);
  await rig.triggers.tick();
  assert.deepEqual(await rig.runIds(), []);
  const deliveries = await deliveriesOf(rig, subscription.subscriptionId);
  assert.equal(deliveries.length, attempts.length);
  for (const { outcome, reason } of deliveries)
    assert.deepEqual([outcome, reason], ['dead-lettered', 'signature-invalid']);
  const read = await rig.request('GET', `/v1/trigger-subscriptions/${subscription.subscriptionId}`);
  assert.equal(read.json().state, 'active', 'forged events switch nothing off');
});

test('refusals are recorded at a bounded pace', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe({ source: 'webhook', workflowId: 'echo' });
  for (let i = 0; i < 30; i++) assert.equal((await rig.send(binding.ingestUrl, BODY)).statusCode, 401);
  assert.equal((await deliveriesOf(rig, subscription.subscriptionId)).length, 10);
});

test('events may be signed as GitHub does, or not at all where that is allowed', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const hub = await subscribeGithub(rig);
  await ingested(rig, hub.binding.ingestUrl, BODY, hubSigned(hub.binding.secret, BODY));
  for (const mode of ['best-effort', 'none']) {
    const open = await rig.subscribe({ source: 'webhook', workflowId: 'echo', verification: { mode } });
    await ingested(rig, open.binding.ingestUrl, BODY, {});
    const [delivery] = await deliveriesOf(rig, open.subscription.subscriptionId);
    assert.deepEqual([delivery?.state, delivery?.verified], ['delivered', false], mode);
  }
  assert.equal((await rig.runIds()).length, 3);
});

test('a captured event starts nothing again, whatever id it is given', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const timed = await rig.subscribe({ source: 'webhook', workflowId: 'echo', dedupEnabled: false });
  const hub = await subscribeGithub(rig);
  const captured = [
    [timed.binding, signed(timed.binding.secret, BODY, rig.clock.at)],
    [hub.binding, hubSigned(hub.binding.secret, BODY)],
  ] as const;
  for (const [{ ingestUrl }, headers] of captured) {
    const { deliveryId } = await ingested(rig, ingestUrl, BODY, { ...headers, 'idempotency-key': 'first' });
    const inUpperCase = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.toUpperCase().replace('SHA256', 'sha256')]),
    );
    rig.clock.at += 299_000;
    await rig.store.retention.deleteExpired(rig.clock.at, 0, 100);
    for (let i = 0; i < 5; i++) {
      const id = { 'idempotency-key': `made-up-${i}` };
      const repeat = await ingested(rig, ingestUrl, BODY, { ...(i === 0 ? inUpperCase : headers), ...id });
      assert.deepEqual([repeat.duplicate, repeat.deliveryId], [true, deliveryId]);
    }
  }
  assert.equal((await rig.runIds()).length, 2);
});

test('each subscription takes one scheme: a signature of one is none under the other', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const timed = await rig.subscribe({ source: 'webhook', workflowId: 'echo' });
  const { secret, ingestUrl } = timed.binding;
  const old = signed(secret, BODY, rig.clock.at - DAY_MS);
  const asText = `${old['x-openwop-timestamp']}.${BODY}`;
  const asHub = { 'content-type': 'text/plain', 'x-hub-signature-256': old['x-openwop-signature']! };
  assert.equal((await rig.send(ingestUrl, asText, asHub)).statusCode, 401);
  assert.equal((await rig.send(ingestUrl, BODY, hubSigned(secret, BODY))).statusCode, 401);
  const hub = await subscribeGithub(rig);
  const own = signed(hub.binding.secret, BODY, rig.clock.at);
  assert.equal((await rig.send(hub.binding.ingestUrl, BODY, own)).statusCode, 401);
});

test('of equal events, however many at once, one starts a run; after a day it may come again', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { binding } = await rig.subscribe({ source: 'webhook', workflowId: 'echo' });
  const send = () => rig.send(binding.ingestUrl, BODY, signed(binding.secret, BODY, rig.clock.at));
  const answers = (await Promise.all(Array.from({ length: 20 }, send))).map((response) => response.json());
  assert.equal(answers.filter(({ duplicate }) => !duplicate).length, 1);
  assert.equal(new Set(answers.map(({ deliveryId }) => deliveryId)).size, 1);
  await rig.triggers.tick();
  const [runId] = await rig.runIds();

  rig.clock.at += DAY_MS - 1;
  await rig.store.retention.deleteExpired(rig.clock.at, 0, 100);
  assert.deepEqual((await send()).json(), { deliveryId: answers[0].deliveryId, duplicate: true, runId });
  rig.clock.at += 2;
  await rig.store.retention.deleteExpired(rig.clock.at, 0, 100);
  assert.equal((await send()).json().duplicate, undefined);
  await rig.triggers.tick();
  assert.equal((await rig.runIds()).length, 2);
});

test('the id that a sender gives decides, and tells nothing', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe({ source: 'webhook', workflowId: 'echo' });
  const plain = await rig.subscribe({ source: 'webhook', workflowId: 'echo', dedupEnabled: false });
  const send = (url: string, secret: string, headers: Record<string, string>) => {
    rig.clock.at += 1_000;
    return ingested(rig, url, BODY, { ...signed(secret, BODY, rig.clock.at), ...headers });
  };
  await send(binding.ingestUrl, binding.secret, { 'idempotency-key': 'order-1' });
  await send(binding.ingestUrl, binding.secret, { 'idempotency-key': 'order-2' });
  const repeat = await send(binding.ingestUrl, binding.secret, { 'idempotency-key': 'order-1' });
  assert.equal(repeat.duplicate, true);
  const deliveries = await deliveriesOf(rig, subscription.subscriptionId);
  assert.equal(deliveries.length, 2);
  assert.ok(!JSON.stringify(deliveries).includes('order-'));
  await send(plain.binding.ingestUrl, plain.binding.secret, {});
  await send(plain.binding.ingestUrl, plain.binding.secret, {});
  assert.equal((await rig.runIds()).length, 4);
});

test('forms come as fields, plain or as JSON', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(
    workflow('fill', [node('a', 'core.noop')], { variables: [{ name: 'form', type: 'object' }] }),
  );
  const wanted = { source: 'form', workflowId: 'fill', inputMapping: { form: 'form.fields' } };
  const { binding } = await rig.subscribe({ ...wanted, verification: { mode: 'none' } });
  const media = { 'content-type': 'application/x-www-form-urlencoded' };
  await ingested(rig, binding.ingestUrl, 'name=Ada+L&tag=a&tag=b', media);
  const [runId] = await rig.runIds();
  const { run } = await rig.ended(runId!);
  assert.deepEqual(run.variables.form, { name: 'Ada L', tag: ['a', 'b'] });
  assertPublic('trigger-event.schema.json', run.facts.triggerData);
  await ingested(rig, binding.ingestUrl, '{"name":"Bob"}', {});
  assertError(await rig.send(binding.ingestUrl, '[1]'), 400, 'validation_error');
  assertError(await rig.send(binding.ingestUrl, 'name=caf%E9', media), 415, 'unsupported_media_type');
  await ingested(rig, binding.ingestUrl, 'name=caf%C3%A9+100%', media);
  const parts = { 'content-type': 'multipart/form-data; boundary=x' };
  assertError(await rig.send(binding.ingestUrl, '--x--', parts), 415, 'unsupported_media_type');
});

test('hostile requests are refused and leave nothing', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const { binding } = await rig.subscribe({
    source: 'webhook',
    workflowId: 'echo',
    verification: { mode: 'none' },
  });
  const { ingestUrl } = binding;
  const hostile: [string | Buffer, Record<string, string>, number][] = [
    ['x'.repeat(TRIGGER_LIMITS.maxBodyBytes + 1), { 'content-type': 'text/plain' }, 413],
    ['['.repeat(100_000), {}, 400],
    ['{"__proto__":{"polluted":true}}', {}, 400],
    ['"\\u0000"', {}, 400],
    ['{', {}, 400],
    ['{"id":12345678901234567890}', {}, 400],
    [Buffer.from([0xff, 0xfe]), { 'content-type': 'text/plain' }, 415],
    [Buffer.from([0x1f, 0x8b]), { 'content-encoding': 'gzip' }, 415],
  ];
  for (const [body, headers, status] of hostile)
    assert.equal((await rig.send(ingestUrl, body, headers)).statusCode, status, String(body).slice(0, 40));
  assertError(await rig.send(ingestUrl.replace(/.$/, '!'), BODY), 404, 'not_found');
  await rig.triggers.tick();
  assert.deepEqual(await rig.runIds(), []);
});

test('whatever is sent, the host answers and does not fail', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(echo);
  const hook = await rig.subscribe({ source: 'webhook', workflowId: 'echo', verification: { mode: 'none' } });
  const form = await rig.subscribe({ source: 'form', workflowId: 'echo', verification: { mode: 'none' } });
  const media = fc.constantFrom(
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'a/b+json',
    'x',
  );
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(fc.boolean(), media, bodies, async (isForm, type, body) => {
      rig.clock.at += 1_000;
      const { ingestUrl } = (isForm ? form : hook).binding;
      const { statusCode } = await rig.send(ingestUrl, Buffer.from(body), { 'content-type': type });
      assert.ok([202, 400, 415].includes(statusCode), String(statusCode));
    }),
    { numRuns: propertyRuns(150) },
  );
});

test('unsigned requests, however many, hold up no signed event', async (t) => {
  const rig = await triggersTest(t, {
    create: () => () => Promise.reject(new Error('no runs in this test')),
  });
  await rig.register(echo);
  for (const mode of ['required', 'best-effort']) {
    const { binding } = await rig.subscribe({
      source: 'webhook',
      workflowId: 'echo',
      verification: { mode },
    });
    const forged = Array.from({ length: 210 }, (_, i) => rig.send(binding.ingestUrl, String(i)));
    const refused = (await Promise.all(forged)).filter(({ statusCode }) => statusCode === 429);
    assert.equal(refused.length, 10, mode);
    const body = JSON.stringify({ mode });
    const headers = signed(binding.secret, body, rig.clock.at);
    assert.equal((await rig.send(binding.ingestUrl, body, headers)).statusCode, 202, mode);
  }
});

test('a flood is slowed down', async (t) => {
  const rig = await triggersTest(t, {
    create: () => () => Promise.reject(new Error('no runs in this test')),
  });
  await rig.register(echo);
  const { binding } = await rig.subscribe({
    source: 'webhook',
    workflowId: 'echo',
    verification: { mode: 'none' },
  });
  const flood = Array.from({ length: 210 }, (_, i) => rig.send(binding.ingestUrl, String(i)));
  const refused = (await Promise.all(flood)).filter(({ statusCode }) => statusCode === 429);
  assert.equal(refused.length, 10);
  assert.equal(refused[0]?.headers['retry-after'], '1');
  rig.clock.at += 1_000;
  assert.equal((await rig.send(binding.ingestUrl, '"again"')).statusCode, 202);
});
