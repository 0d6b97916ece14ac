import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect } from 'amqplib';
import { queueContract } from '../ports/queue-contract.ts';
import { queueOutageContract } from '../ports/queue-outage-contract.ts';
import { QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { freshTenant } from '../testing/calls.ts';
import { openTestRabbit, rabbitSkip } from '../testing/rabbitmq.ts';
import { namesOf, placeOf } from './names.ts';
import { openRabbitQueue } from './queue.ts';

const deps = { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS };
const skip = { skip: rabbitSkip };
let server: ReturnType<typeof openTestRabbit> | null = null;
const url = async (): Promise<string> => {
  server ??= openTestRabbit();
  return (await server).url;
};
/** One server for the file. */
after(async () => (await server)?.stop());
const close = async (): Promise<void> => {};

queueContract(
  'RabbitMQ',
  async () => {
    const port = openRabbitQueue(await url(), deps);
    return { port, close: () => port.close() };
  },
  skip,
);

queueOutageContract(
  'RabbitMQ',
  async () => ({ url: await url(), open: async (each) => openRabbitQueue(each, deps), close }),
  skip,
);

test('a group that a dead process left half made is made again', skip, async (t) => {
  const tenant = freshTenant();
  const port = openRabbitQueue(await url(), deps);
  const connection = await connect(await url());
  t.after(async () => {
    await port.close();
    await connection.close();
  });
  const user = userOf(port, tenant);
  for (let n = 0; n < 3; n++) await user.publish('t', n);
  const channel = await connection.createChannel();
  const { queue: half } = namesOf(placeOf(tenant, { topic: 't', group: 'g' }));
  await channel.assertQueue(half, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  channel.sendToQueue(half, Buffer.from('half'));
  const got = await user.take('t', { group: 'g' });
  assert.deepEqual(
    got.map(({ payload }) => payload),
    [0, 1, 2],
  );
});

test('two processes that make a group at once make one', skip, async (t) => {
  const tenant = freshTenant();
  const ports = await Promise.all([1, 2].map(async () => openRabbitQueue(await url(), deps)));
  t.after(() => Promise.all(ports.map((port) => port.close())));
  const users = ports.map((port) => userOf(port, tenant));
  await users[0]?.publish('t', 'x');
  const taken = await Promise.all(users.map((user) => user.take('t', { group: 'g' })));
  assert.equal(taken.flat().length, 1);
});

test('a server that is not there is named without its password', async () => {
  const port = openRabbitQueue('amqp://gantry:open-sesame@127.0.0.1:1', deps);
  await assert.rejects(port.health(), (error) => {
    assert.ok(error instanceof Error && 'code' in error);
    assert.equal(error.code, 'queue_backend_unavailable');
    assert.match(error.message, /127\.0\.0\.1:1\b/);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
});
