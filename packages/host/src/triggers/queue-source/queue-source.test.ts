import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertPublic } from '../../api/testing/api-test.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { HOST_URL, leftIn, listening, queueTest, seen, URL } from './testing/queue-test.ts';

test('each message starts one run of each subscription, before and after it came to be', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('first'), seen('second')] });
  await rig.publish('orders', 0);
  const one = await rig.subscribe({ source: 'queue', workflowId: 'first', topic: 'orders' });
  const two = await rig.subscribe({ source: 'queue', workflowId: 'second', topic: 'orders' });
  await Promise.all([1, 2, 3, 4].map((n) => rig.publish('orders', n)));
  await rig.publish('orders', 5, { tenant: 'globex' });
  for (const id of ['first', 'second'])
    assert.deepEqual((await rig.outputs(id, 5)).map((each) => JSON.stringify(each)).sort(), ALL);

  const { subscription, binding } = one;
  assertPublic('trigger-subscription.schema.json', subscription);
  assert.deepEqual([subscription.source, subscription.state], ['queue', 'active']);
  assert.deepEqual(binding, { topic: 'orders', consumerGroup: subscription.subscriptionId });
  assert.ok(!('secretFingerprint' in subscription), 'nobody has a secret of it');
  const { subscriptionId } = two.subscription;
  const { deliveries, problem, ...purpose } = await rig.deliveriesOf(subscriptionId);
  assert.equal(problem, undefined);
  const { workflowId, topic, consumerGroup } = purpose;
  assert.deepEqual([workflowId, topic, consumerGroup], ['second', 'orders', subscriptionId]);
  assert.deepEqual(
    deliveries.map(({ state, attempts }) => [state, attempts]),
    Array(5).fill(['delivered', 1]),
  );
  assert.deepEqual(new Set(deliveries.map(({ runId }) => runId)), new Set(await rig.runIds('second')));
});

const ALL = [0, 1, 2, 3, 4].map((n) => JSON.stringify({ input: n }));

test('subscriptions that name one group share its messages', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('first'), seen('second')] });
  const group = { source: 'queue', topic: 'jobs', consumerGroup: 'workers' };
  await rig.subscribe({ ...group, workflowId: 'first' });
  await rig.subscribe({ ...group, workflowId: 'second' });
  for (let n = 0; n < 20; n++) await rig.publish('jobs', n);
  const both = async () => [...(await rig.runIds('first')), ...(await rig.runIds('second'))];
  await rig.until(async () => (await both()).length >= 20);
  assert.equal((await both()).length, 20);
});

test('inputs come from the message; one that does not fit is a dead letter, and the next one runs', async (t) => {
  const definition = seen('typed', { variables: [{ name: 'n', type: 'number', required: true }] });
  const rig = await queueTest(t, { workflows: [definition] });
  const asked = { source: 'queue', workflowId: 'typed', topic: 'in', inputMapping: { n: 'payload.n' } };
  const { subscription } = await rig.subscribe(asked);
  await rig.publish('in', { n: 'many' });
  const letters = async () => (await rig.get('/v1/host/gantry/dead-letters')).json().deadLetters;
  await rig.until(async () => (await letters()).length > 0);
  await rig.publish('in', { n: 2 });
  assert.deepEqual(await rig.outputs('typed', 1), [{ input: { n: 2 } }]);
  const { deliveries } = await rig.deliveriesOf(subscription.subscriptionId);
  assert.deepEqual(
    deliveries.map(({ state, reason }) => [state, reason]),
    [
      ['delivered', undefined],
      ['dead-lettered', 'validation_error'],
    ],
  );
  assert.equal((await letters())[0].subscriptionId, subscription.subscriptionId);
});

test('while paused, messages wait in their topic; a deleted subscription hears no more', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('first'), seen('watch')] });
  const { subscription, binding } = await rig.subscribe({
    source: 'queue',
    workflowId: 'first',
    topic: 'in',
  });
  await rig.subscribe({ source: 'queue', workflowId: 'watch', topic: 'in' });
  const { subscriptionId } = subscription;
  const paused = await rig.post(`${HOST_URL}/${subscriptionId}:pause`, {});
  assert.equal(paused.json().state, 'paused');
  await rig.publish('in', 1);
  await rig.outputs('watch', 1);
  assert.deepEqual(await rig.runIds('first'), []);
  await rig.post(`${HOST_URL}/${subscriptionId}:resume`, {});
  assert.deepEqual(await rig.outputs('first', 1), [{ input: 1 }]);

  assert.equal((await rig.request({ method: 'DELETE', url: `${URL}/${subscriptionId}` })).statusCode, 204);
  await rig.publish('in', 2);
  await rig.outputs('watch', 2);
  assert.equal((await rig.runIds('first')).length, 1);
  const place = { topic: binding.topic, group: binding.consumerGroup };
  // The listener may have had it in hand when it was told to end, and given it back for later
  assert.deepEqual(
    await leftIn(rig.queue, place, Date.now() + 120_000),
    [2],
    'the message is not lost: it stays in its topic',
  );
});

test('a host without room takes messages at its own pace, and gives none up', async (t) => {
  const brief = workflow('brief', [node('wait', 'core.delay', { delayMs: 20 })]);
  const rig = await queueTest(t, { workflows: [brief], settings: { inflightCap: 2 } });
  const { subscription } = await rig.subscribe({ source: 'queue', workflowId: 'brief', topic: 'many' });
  await Promise.all(Array.from({ length: 20 }, (_, n) => rig.publish('many', n)));
  await rig.outputs('brief', 20);
  const { deliveries } = await rig.deliveriesOf(subscription.subscriptionId);
  assert.equal(deliveries.length, 20);
  assert.ok(deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1));
});

test('the trigger of a definition listens as long as its current version has it', async (t) => {
  const rig = await queueTest(t, { workflows: [listening('self', 'a')] });
  await rig.publish('a', 1);
  assert.deepEqual(await rig.outputs('self', 1), [{ input: 1 }]);
  const list = async () => (await rig.get(URL)).json().subscriptions;
  const [first, ...others] = await list();
  assert.deepEqual([first.source, others], ['queue', []]);

  await rig.publish('b', 2);
  await rig.registered({ ...listening('self', 'b'), version: '2.0.0' });
  assert.deepEqual((await rig.outputs('self', 2))[1], { input: 2 });
  assert.deepEqual(await list(), [first], 'another topic, the same subscription');

  const hook = { id: 'in', type: 'webhook' as const };
  await rig.registered({ ...seen('self'), version: '3.0.0', triggers: [hook] });
  const [now, ...more] = await list();
  assert.deepEqual([now.source, more], ['webhook', []]);
  assert.notEqual(now.subscriptionId, first.subscriptionId);
});

test('what cannot be listened to is refused by name', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('first')] });
  const asked = { source: 'queue', workflowId: 'first', topic: 't' };
  for (const [body, message] of [
    [{ ...asked, topic: undefined }, /topic is missing/],
    [{ ...asked, topic: 'é'.repeat(150) }, /300 bytes, and may have 200/],
    [{ ...asked, topic: 'a\nb' }, /topic is not plain text/],
    [{ ...asked, consumerGroup: 'a\u0001b' }, /consumerGroup is not plain text/],
    [{ ...asked, dedupEnabled: false }, /dedupEnabled/],
    [{ ...asked, verification: { mode: 'none' } }, /verification/],
    [{ ...asked, source: 'webhook' }, /for the source `queue`/],
    [{ ...asked, inputMapping: { x: 'payload' } }, /not a variable/],
  ] as const) {
    const response = await rig.post(URL, body);
    assertError(response, 400, 'validation_error');
    assert.match(response.json().message, message);
  }
  const { subscription } = await rig.subscribe(asked);
  const { subscriptionId } = subscription;
  assertError(await rig.post(`${HOST_URL}/${subscriptionId}:rotate-secret`, {}), 409, 'conflict');
  assertError(await rig.post(`/v1/ingest/${subscriptionId}`, { forged: true }), 404, 'not_found');

  const topicless = listening('bad', 't');
  const bad = { ...topicless, triggers: [{ ...topicless.triggers[0]!, config: {} }] };
  assertError(await rig.register(bad), 400, 'validation_error');
});
