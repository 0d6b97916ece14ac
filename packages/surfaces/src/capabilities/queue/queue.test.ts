/** `ctx.queueBus` as packs call it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { publicValidator } from '../../../../protocol/src/testing/public-schemas.ts';
import { createCursors } from '../../calls/cursor.ts';
import type { Data } from '../../calls/data.ts';
import { embeddedCallGate } from '../../testing/embedded-call-gate.ts';
import { callsOf, factsOf, nodeOf, type TestCallGate } from '../../testing/test-call-gate.ts';
import { deliveryTokens } from './delivery-token.ts';

/** Each call is a node of its own, so that places in a node do not matter. */
let nodes = 0;
const once = (world: TestCallGate, path: string, input: Data, tenant = 'acme') =>
  nodeOf(world, { tenant, nodeId: `q${nodes++}` })(path, input);

interface Consumed {
  readonly messages: readonly {
    readonly messageId: string;
    readonly payload: Data;
    readonly headers: Data;
    readonly deliveryToken: string;
    readonly deliveryCount: number;
  }[];
}

const consumed = (answer: unknown): Consumed => answer as Consumed;

const consume = async (world: TestCallGate, input: { [name: string]: Data }, tenant?: string) =>
  consumed(await once(world, 'queueBus.consume', input, tenant)).messages;

const EXPIRED = { code: 'queue_delivery_token_expired' };

describe('queueBus', () => {
  test('every method of the contract, with its answers', async () => {
    const world = await embeddedCallGate();
    const sent = await once(world, 'queueBus.publish', {
      topic: 't',
      payload: { a: 1 },
      headers: { h: 'x' },
    });
    const [first] = await consume(world, { topic: 't', consumerGroup: 'g', maxMessages: 5 });
    assert.ok(first);
    assert.deepEqual({ messageId: first.messageId }, sent);
    assert.deepEqual([first.payload, first.headers, first.deliveryCount], [{ a: 1 }, { h: 'x' }, 1]);
    const { deliveryToken } = first;
    assert.deepEqual(await once(world, 'queueBus.nack', { deliveryToken }), {
      ok: true,
      nacked: true,
      requeued: true,
    });
    const [second] = await consume(world, { topic: 't', consumerGroup: 'g' });
    assert.equal(second?.deliveryCount, 2);
    const dead = { deliveryToken: second.deliveryToken, reason: 'bad' };
    assert.deepEqual(await once(world, 'queueBus.deadLetter', dead), {
      ok: true,
      routed: true,
      deadLettered: true,
      deadLetterTopic: 't.dlq',
      dlqSubject: 't.dlq',
    });
    const [letter] = await consume(world, { topic: 't.dlq' });
    assert.ok(letter);
    const acked = await once(world, 'queueBus.ack', { deliveryToken: letter.deliveryToken });
    assert.deepEqual(acked, { ok: true, acked: true });
    await assert.rejects(once(world, 'queueBus.ack', { deliveryToken }), EXPIRED);
  });

  test('the spellings of published packs and of the public suite', async () => {
    const world = await embeddedCallGate();
    const job = await once(world, 'storage.queue.enqueue', { queue: 'jobs', payload: 'x', delaySeconds: 0 });
    assert.ok((job as { jobId: string }).jobId);
    const taken = (await once(world, 'storage.queue.dequeue', { queue: 'jobs', durationMs: 5_000 })) as {
      jobId: string;
      found: boolean;
      payload: Data;
    };
    assert.deepEqual([taken.found, taken.payload], [true, 'x']);
    assert.deepEqual(await once(world, 'queueBus.ack', { messageId: taken.jobId }), {
      ok: true,
      acked: true,
    });
    await once(world, 'queueBus.publish', { subject: 's', payload: 1 });
    const found = (await once(world, 'queueBus.consume', { subject: 's' })) as { deliveryToken: string };
    assert.deepEqual(await once(world, 'queueBus.nack', { messageId: found.deliveryToken, requeue: false }), {
      ok: true,
      nacked: true,
      requeued: false,
    });
    const none = (await once(world, 'queueBus.consume', { subject: 's' })) as { found: boolean };
    assert.equal(none.found, false);
  });

  test('streams are read from the beginning, as an iterable', async () => {
    const world = await embeddedCallGate();
    for (let n = 0; n < 3; n++) await once(world, 'queueBus.streamPublish', { stream: 's', record: { n } });
    const sent: Data[] = [];
    const call = callsOf(world.callGate.open(factsOf()), sent);
    await call('queueBus.streamSubscribe', { stream: 's', fromBeginning: true, follow: false });
    assert.deepEqual(
      sent.map((each) => (each as { payload: Data }).payload),
      [{ n: 0 }, { n: 1 }, { n: 2 }],
    );
  });
});

describe('delivery tokens', () => {
  test('are good for their tenant only, and cannot be made up', async () => {
    const world = await embeddedCallGate();
    for (const tenant of ['acme', 'other'])
      await once(world, 'queueBus.publish', { topic: 't', payload: tenant }, tenant);
    const [ours] = await consume(world, { topic: 't' });
    assert.ok(ours);
    const { deliveryToken } = ours;
    await assert.rejects(once(world, 'queueBus.ack', { deliveryToken }, 'other'), EXPIRED);
    const bytes = Buffer.from(deliveryToken, 'base64url');
    for (const index of [0, bytes.length - 1]) {
      const bent = Buffer.from(bytes);
      bent[index]! ^= 1;
      const made = bent.toString('base64url');
      for (const verb of ['ack', 'nack'])
        await assert.rejects(once(world, `queueBus.${verb}`, { deliveryToken: made }), EXPIRED);
    }
    for (const made of ['1.1.1', 'x', Buffer.from('1.1.1').toString('base64url'), ours.messageId])
      await assert.rejects(once(world, 'queueBus.deadLetter', { deliveryToken: made, reason: '' }), EXPIRED);
    await once(world, 'queueBus.ack', { deliveryToken });
  });

  test('expire with their time, to the millisecond', async () => {
    const world = await embeddedCallGate();
    await once(world, 'queueBus.publish', { topic: 't', payload: 1 });
    const [first] = await consume(world, { topic: 't', visibilityMs: 1_000 });
    world.clock.now += 999;
    assert.deepEqual(await consume(world, { topic: 't' }), []);
    world.clock.now += 1;
    await assert.rejects(once(world, 'queueBus.ack', { deliveryToken: first!.deliveryToken }), EXPIRED);
    const [second] = await consume(world, { topic: 't', visibilityMs: 1_000 });
    world.clock.now += 999;
    await once(world, 'queueBus.ack', { deliveryToken: second!.deliveryToken });
  });

  test('a message that started a run is acknowledged already, and cannot be given back', async () => {
    const world = await embeddedCallGate();
    // The key of the test call gate
    const tokens = deliveryTokens(createCursors(new Uint8Array(32).fill(7)));
    const messageId = tokens.receipt(world.tenantOf('acme'), 'm-1');
    assert.deepEqual(await once(world, 'queueBus.ack', { messageId }), { ok: true, acked: true });
    await assert.rejects(once(world, 'queueBus.nack', { messageId }), {
      ...EXPIRED,
      message: /started the run/,
    });
    await assert.rejects(once(world, 'queueBus.ack', { messageId }, 'other'), EXPIRED);
  });
});

test('refuses what is over a limit, and what no name can be', async () => {
  const world = await embeddedCallGate();
  const refused = (path: string, input: Data) =>
    assert.rejects(once(world, path, input), { code: 'validation_error' });
  await refused('queueBus.publish', { topic: 'é'.repeat(101), payload: 1 });
  await refused('queueBus.publish', { topic: 't', payload: 'x'.repeat(262_143) });
  await refused('queueBus.publish', { topic: 't', payload: 1, headers: { h: 'x'.repeat(16_384) } });
  await refused('queueBus.publish', { topic: 't', payload: 1, headers: { n: 1 } });
  await refused('queueBus.publish', { topic: 't', payload: new Uint8Array(2) });
  await refused('queueBus.publish', { topic: 't', payload: 1, delaySeconds: -1 });
  const names = ['a\0b', 'half \ud800', 'a\nb', 'a\u007f', '\u0085'];
  for (const topic of ['', ...names]) await refused('queueBus.publish', { topic, payload: 1 });
  for (const consumerGroup of ['g'.repeat(101), ...names])
    await refused('queueBus.consume', { topic: 't', consumerGroup });
  for (const topic of names) await refused('queueBus.streamSubscribe', { topic, follow: false });
  for (const maxMessages of [0, 1.5]) await refused('queueBus.consume', { topic: 't', maxMessages });
  for (const visibilityMs of [0, 900_001]) await refused('queueBus.consume', { topic: 't', visibilityMs });
  await once(world, 'queueBus.publish', { topic: 'x'.repeat(200), payload: 'x'.repeat(262_142) });
});

test('a larger number of messages, or a longer wait, than there can be is as much as there can be', async () => {
  const world = await embeddedCallGate();
  for (let n = 0; n < 101; n++) await once(world, 'queueBus.publish', { topic: 't', payload: n });
  const most = { topic: 't', maxMessages: Number.MAX_SAFE_INTEGER, waitMs: 3_600_000 };
  assert.equal((await consume(world, most)).length, 100);
  assert.equal((await consume(world, most)).length, 1);
});

test('a header that cannot be carried is refused by its name', async () => {
  const world = await embeddedCallGate();
  for (const headers of [{ ok: 'x', 'a\nb': 5 }, { 'a\nb': 'x' }, { 'a\rb': { x: 5 } }, { 'a\0b': 'x' }]) {
    const name = JSON.stringify(Object.keys(headers).at(-1));
    const refused = once(world, 'queueBus.publish', { topic: 'h', payload: 1, headers });
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof OpenwopError && error.code === 'validation_error');
      assert.ok(error.message.includes(`headers has the header ${name}`), error.message);
      return true;
    });
  }
  const headers = { '': 'x', 'x-é 🙂': 'line\nbreak' };
  await once(world, 'queueBus.publish', { topic: 'h', payload: 1, headers });
  const [only, ...others] = await consume(world, { topic: 'h' });
  assert.deepEqual([only?.headers, others], [headers, []]);
});

test('a node that runs again publishes and consumes what it did', async () => {
  const world = await embeddedCallGate();
  let tokens: string[] = [];
  for (let run = 0; run < 3; run++) {
    const call = nodeOf(world, { nodeId: 'again' });
    await call('queueBus.publish', { topic: 't', payload: 'x' });
    const { messages } = consumed(await call('queueBus.consume', { topic: 't' }));
    assert.equal(messages.length, 1);
    if (run > 0)
      assert.deepEqual(
        messages.map((each) => each.deliveryToken),
        tokens,
      );
    tokens = messages.map((each) => each.deliveryToken);
    await call('queueBus.ack', { deliveryToken: tokens[0]! });
  }
  assert.deepEqual(await consume(world, { topic: 't' }), []);
});

test('what is advertised is what the protocol asks for', async () => {
  const { callGate } = await embeddedCallGate();
  const { queueBus } = callGate.discovery();
  const stream = { supported: true, fromBeginning: true };
  assert.deepEqual(queueBus, { supported: true, deadLetterSupported: true, stream });
  const wrong = publicValidator('capabilities.schema.json')?.({ queueBus });
  assert.deepEqual(wrong?.filter((problem) => /queueBus/.test(problem)) ?? [], []);
  for (const name of ['queueBus', 'host.queueBus.stream', 'host.queue'])
    assert.ok(callGate.capabilities().has(name), name);
});
