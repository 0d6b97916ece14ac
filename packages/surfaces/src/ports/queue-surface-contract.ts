/** What packs may count on whatever the backend: `ctx.queueBus` over the port. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCursors } from '../calls/cursor.ts';
import type { Data } from '../calls/data.ts';
import { implementQueue } from '../capabilities/queue/surface.ts';
import { freshTenant } from '../testing/calls.ts';
import { callGateOf, callsOf, factsOf } from '../testing/test-call-gate.ts';
import type { QueuePort } from './queue.ts';
import { EXPIRED } from './queue-user-contract.ts';

interface Consumed {
  readonly messages: readonly { readonly payload: Data; readonly deliveryToken: string }[];
}

const consumed = (answer: unknown): Consumed => answer as Consumed;

/** Each call is a node of its own. */
function packOf(port: QueuePort) {
  const world = callGateOf([implementQueue({ port, cursors: createCursors(new Uint8Array(32)) })]);
  world.clock.now = Date.now();
  let nodes = 0;
  const call = (tenant: string, path: string, input: Data, sent: Data[] = []) =>
    callsOf(world.callGate.open(factsOf({ tenant, nodeId: `n${nodes++}` })), sent)(`queueBus.${path}`, input);
  const take = async (tenant: string, topic: string) =>
    consumed(await call(tenant, 'consume', { topic })).messages;
  return { call, take };
}

export function queueThroughSurface(port: () => QueuePort): void {
  test('delivery tokens are good for their tenant only', async () => {
    const { call, take } = packOf(port());
    const [ours, theirs] = [freshTenant(), freshTenant()];
    for (const tenant of [ours, theirs]) await call(tenant, 'publish', { topic: 't', payload: tenant });
    const [[mine], [other]] = [await take(ours, 't'), await take(theirs, 't')];
    assert.ok(mine && other);
    const { deliveryToken } = mine;
    for (const [path, more] of [
      ['ack', {}],
      ['nack', {}],
      ['nack', { requeue: false }],
      ['deadLetter', { reason: 'r' }],
    ] as const)
      await assert.rejects(call(theirs, path, { deliveryToken, ...more }), EXPIRED, path);
    await assert.rejects(take(theirs, 't.dlq'), { code: 'queue_topic_not_found' });
    await call(ours, 'ack', { deliveryToken });
    await call(theirs, 'ack', { deliveryToken: other.deliveryToken });
  });

  test('a topic that nobody published to is said not to be there; one that was read is empty', async () => {
    const { call, take } = packOf(port());
    const [ours, theirs] = [freshTenant(), freshTenant()];
    const missing = { code: 'queue_topic_not_found', details: { topic: 'orders' } };
    await assert.rejects(take(ours, 'orders'), missing);
    await assert.rejects(call(ours, 'streamSubscribe', { topic: 'orders', follow: false }), missing);
    await call(ours, 'publish', { topic: 'orders', payload: 1 });
    const [first] = await take(ours, 'orders');
    assert.deepEqual(await take(ours, 'orders'), []);
    await call(ours, 'ack', { deliveryToken: first!.deliveryToken });
    assert.deepEqual(await take(ours, 'orders'), []);
    await assert.rejects(take(theirs, 'orders'), missing);
  });

  test('dead letters of the longest topic can be consumed and read', async () => {
    const { call, take } = packOf(port());
    const tenant = freshTenant();
    const topic = 'q'.repeat(200);
    await call(tenant, 'publish', { topic, payload: 1 });
    const [first] = await take(tenant, topic);
    const buried = await call(tenant, 'deadLetter', { deliveryToken: first!.deliveryToken, reason: 'r' });
    const { deadLetterTopic } = buried as { deadLetterTopic: string };
    const sent: Data[] = [];
    await call(
      tenant,
      'streamSubscribe',
      { topic: deadLetterTopic, fromBeginning: true, follow: false },
      sent,
    );
    assert.equal(sent.length, 1);
    assert.equal((await take(tenant, deadLetterTopic)).length, 1);
    for (const long of [`${topic}q`, `q${deadLetterTopic}`])
      await assert.rejects(call(tenant, 'consume', { topic: long }), { code: 'validation_error' });
  });

  test('what was published is delivered: nothing is accepted that is no message on its way back', async () => {
    const { call, take } = packOf(port());
    const tenant = freshTenant();
    const headers = { 'a\nb': 5 };
    const refused = { code: 'validation_error', message: /"a\\nb"/ };
    await assert.rejects(call(tenant, 'publish', { topic: 't', payload: 1, headers }), refused);
    await call(tenant, 'publish', { topic: 't', payload: 2, headers: { 'x-é': 'a\nb' } });
    assert.deepEqual(
      (await take(tenant, 't')).map(({ payload }) => payload),
      [2],
    );
  });

  test('the longest names make tokens that can be given back', async () => {
    const { call } = packOf(port());
    const tenant = freshTenant();
    const place = { topic: '"'.repeat(200), consumerGroup: '"'.repeat(100) };
    await call(tenant, 'publish', { topic: place.topic, payload: 1 });
    const [first] = consumed(await call(tenant, 'consume', place)).messages;
    assert.ok(first);
    await call(tenant, 'ack', { deliveryToken: first.deliveryToken });
    const bad = '\u0001'.repeat(180);
    await assert.rejects(call(tenant, 'consume', { topic: bad }), { code: 'validation_error' });
  });
}
