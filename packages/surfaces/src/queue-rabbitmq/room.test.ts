/** What only RabbitMQ can get wrong: answers that are lost, places that nobody uses, tokens of other processes. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type ChannelModel, connect } from 'amqplib';
import { createCursors } from '../cursor.ts';
import type { QueueBounds } from '../ports/queue.ts';
import { EXPIRED, QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { implementQueue } from '../queue/surface.ts';
import { freshTenant } from '../testing/calls.ts';
import { deskOf, factsOf, nodeOf } from '../testing/desk.ts';
import { openGate } from '../testing/gate.ts';
import { openTestRabbit, rabbitSkip } from '../testing/rabbitmq.ts';
import { namesOf, placeOf } from './names.ts';
import { openRabbitQueue } from './queue.ts';

const { retentionMs, quotaBytes } = QUEUE_CONTRACT_BOUNDS;

interface Opening {
  readonly url?: string;
  readonly bounds?: Partial<QueueBounds>;
  readonly now?: () => number;
}

describe('room in RabbitMQ', { skip: rabbitSkip }, () => {
  let server: Awaited<ReturnType<typeof openTestRabbit>>;
  let connection: ChannelModel;
  before(async () => {
    server = await openTestRabbit();
    connection = await connect(server.url);
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
  });
  const open = (t: TestContext, { url = server.url, bounds, now = Date.now }: Opening = {}) => {
    const port = openRabbitQueue(url, {
      now,
      report: () => {},
      bounds: { ...QUEUE_CONTRACT_BOUNDS, ...bounds },
    });
    t.after(() => port.close());
    return port;
  };
  const isThere = async (queue: string): Promise<boolean> => {
    const channel = await connection.createChannel();
    channel.on('error', () => {});
    return channel.checkQueue(queue).then(
      () => channel.close().then(() => true),
      () => false,
    );
  };

  test('a publish whose answer is lost is in doubt, and its node publishes no second time', async (t) => {
    const through = new URL(server.url);
    const gate = await openGate({ host: through.hostname, port: Number(through.port) });
    t.after(() => gate.close());
    through.port = String(gate.port);
    const port = open(t, { url: through.href });
    const tenant = freshTenant();
    const user = userOf(port, tenant);
    const world = deskOf([implementQueue({ port, cursors: createCursors(new Uint8Array(32)) })]);
    const run = () => nodeOf(world, factsOf({ tenant }))('queueBus.publish', { topic: 't', payload: 1 });
    await user.publish('t', 0);
    const running = run();
    await Promise.all([
      gate.shut(),
      assert.rejects(running, { code: 'effect_in_doubt', message: /did not say whether it has the message/ }),
    ]);
    await gate.reopen();
    await assert.rejects(run(), { code: 'effect_in_doubt' });
    const found = (await user.drain('t')).map(({ payload }) => payload);
    assert.ok(found.length === 1 || (found.length === 2 && found[1] === 1), `${found}`);
  });

  test('processes that publish at once pass the bound by no more than what is under way', async (t) => {
    const tenant = freshTenant();
    const users = [open(t), open(t)].map((port) => userOf(port, tenant));
    const text = 'x'.repeat(9_000);
    let kept = 0;
    for (let round = 0; round < 12; round++) {
      const tries = await Promise.allSettled(users.map(({ publish }) => publish('t', text)));
      kept += tries.filter(({ status }) => status === 'fulfilled').length;
    }
    assert.ok(kept > 10 && (kept - 1) * text.length <= quotaBytes, `${kept} were kept`);
    assert.equal((await users[0]!.drain('t')).length, kept);
  });

  test('a tenant has only so many topics, and dead letters of each', async (t) => {
    const port = open(t, { bounds: { topicsMax: 2 } });
    const user = userOf(port, freshTenant());
    for (const topic of ['a', 'b']) await user.publish(topic, topic);
    await assert.rejects(user.publish('c', 1), {
      code: 'queue_backend_unavailable',
      message: /has 2 topics/,
    });
    await user.bury(await user.takeOne('a'), 'r');
    assert.equal((await user.drain('a.dlq')).length, 1);
    assert.equal((await user.drain('b', { group: 'g' })).length, 1);
    await assert.rejects(user.take('b', { group: 'h' }), { message: /has 4 consumer groups in all/ });
    await userOf(port, freshTenant()).publish('c', 1);
  });

  test('topics and groups that nobody uses are removed, and made again when somebody does', async (t) => {
    const before = Date.now() - 10 * retentionMs;
    const [old, current] = [open(t, { now: () => before }), open(t)];
    const [tenant, other] = [freshTenant(), freshTenant()];
    const [user, busy] = [userOf(old, tenant), userOf(current, other)];
    await user.publish('t', 1);
    assert.equal((await user.take('t', { group: 'g' })).length, 1);
    await userOf(old, other).publish('t', 1);
    assert.equal((await userOf(old, other).take('t', { group: 'left' })).length, 1);
    await busy.publish('t', 2);
    assert.equal(await current.sweep(before + retentionMs), 0);
    assert.equal(await current.sweep(before + 1.3 * retentionMs), 2, 'a topic, and a group of another');
    const gone = [placeOf(tenant, { topic: 't', group: 'g' }), placeOf(tenant, { topic: 't', group: '' })];
    for (const { queue, bulk, log } of gone.map(namesOf))
      for (const name of [queue, bulk, log]) assert.equal(await isThere(name), false, name);
    assert.equal(await isThere(namesOf(placeOf(other, { topic: 't', group: 'left' })).queue), false);
    assert.deepEqual(
      (await busy.drain('t')).map(({ payload }) => payload),
      [2],
    );
    assert.equal(await old.sweep(before), 0, 'by now it has heard of it');
    await user.publish('t', 'anew');
    assert.deepEqual(
      (await user.drain('t', { group: 'g' })).map(({ payload }) => payload),
      ['anew'],
    );
  });

  test('a token of another process is refused with the reason', async (t) => {
    const tenant = freshTenant();
    const [one, two] = [open(t), open(t)].map((port) => userOf(port, tenant));
    assert.ok(one && two);
    await one.publish('t', 1);
    const delivery = await one.takeOne('t');
    await assert.rejects(two.ack(delivery), { ...EXPIRED, message: /only in the process that consumed/ });
    await one.ack(delivery);
    await assert.rejects(one.ack(delivery), { ...EXPIRED, message: /its time is over or it was used/ });
  });
});
