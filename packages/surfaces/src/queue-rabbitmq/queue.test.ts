import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Channel, connect } from 'amqplib';
import { queueContract } from '../ports/queue-contract.ts';
import { QUEUE_LEASE_BOUNDS, queueLeaseContract } from '../ports/queue-lease-contract.ts';
import { queueOutageContract } from '../ports/queue-outage-contract.ts';
import { QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { freshTenant, write } from '../testing/calls.ts';
import { openGate } from '../testing/gate.ts';
import { openTestRabbit, rabbitSkip } from '../testing/rabbitmq.ts';
import { KEYS, namesOf, placeOf } from './names.ts';
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
  {
    ...skip,
    lacks: {
      delays: 'RabbitMQ delays only with a plugin, and the surface refuses to',
      publishesOnce:
        'RabbitMQ does not know a message again, so its publish is in doubt where no answer came',
      ownJournal: 'RabbitMQ writes nothing beside a message, so the host remembers calls',
    },
  },
);

queueLeaseContract(
  'RabbitMQ',
  async () => {
    const port = openRabbitQueue(await url(), { ...deps, bounds: QUEUE_LEASE_BOUNDS });
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

test('I10: a body that is no message is reported, and is a dead letter', skip, async (t) => {
  const tenant = freshTenant();
  const reports: unknown[] = [];
  const port = openRabbitQueue(await url(), { ...deps, report: (fault) => reports.push(fault) });
  const connection = await connect(await url());
  t.after(() => Promise.all([port.close(), connection.close()]));
  const { publish, drain } = userOf(port, tenant);
  await publish('t', 'ours');
  const channel = await connection.createConfirmChannel();
  const { exchange } = namesOf(placeOf(tenant, { topic: 't', group: '' }));
  channel.publish(exchange, KEYS.message, Buffer.from('not ours'));
  await channel.waitForConfirms();
  const got = await drain('t');
  assert.deepEqual(
    got.map(({ payload }) => payload),
    ['ours'],
  );
  assert.match(String(reports), /^Error: a body that is no message of this host.*"topic":"t"/);
  const [letter] = await drain('t.dlq');
  const { original, deadLetterReason } = letter!.payload as { original: unknown; deadLetterReason: string };
  assert.deepEqual([original, deadLetterReason], [{ bytes: 8, text: 'not ours' }, 'not_a_message']);
});

test('who waits when the connection is lost is told that the queue is away', skip, async (t) => {
  const tenant = freshTenant();
  const server = new URL(await url());
  const gate = await openGate({ host: server.hostname, port: Number(server.port) });
  const connection = await connect(server.href);
  server.port = String(gate.port);
  const port = openRabbitQueue(server.href, deps);
  t.after(async () => {
    await port.close();
    await gate.close();
    await connection.close();
  });
  const { publish, drain, take } = userOf(port, tenant);
  await publish('t', 1);
  await drain('t');
  const waiting = take('t', { waitMs: 20_000 });
  waiting.catch(() => {});
  await waits(await connection.createChannel(), tenant);
  await gate.shut();
  await assert.rejects(waiting, { code: 'queue_backend_unavailable' });
});

/** Until the queue of its topic `t` has a consumer, which the server counts and tells nobody of. */
async function waits(channel: Channel, tenant: string): Promise<void> {
  const { queue } = namesOf(placeOf(tenant, { topic: 't', group: '' }));
  while ((await channel.checkQueue(queue)).consumerCount === 0);
}

test('so many calls of a tenant wait, on one channel, and others go on', skip, async (t) => {
  const [tenant, other] = [freshTenant(), freshTenant()];
  const port = openRabbitQueue(await url(), deps);
  t.after(() => port.close());
  const [ours, theirs] = [userOf(port, tenant), userOf(port, other)];
  const ending = new AbortController();
  const request = { topic: 't', group: '', messagesMax: 1, visibilityMs: 30_000, waitMs: 20_000 };
  const calls = Array.from({ length: 120 }, () =>
    port.consume({ ...request, signal: ending.signal }, write(tenant, { now: Date.now() })),
  );
  const refused = calls.slice(100);
  for (const call of refused)
    await assert.rejects(call, {
      code: 'queue_backend_unavailable',
      message: /100 calls of this tenant wait/,
    });
  await ours.publish('t', 'for one of them');
  assert.equal((await Promise.race(calls.slice(0, 100)))[0]?.payload, 'for one of them');
  await theirs.publish('t', 'x');
  assert.equal((await theirs.takeOne('t')).payload, 'x');
  ending.abort();
  assert.equal((await Promise.all(calls.slice(0, 100))).flat().length, 1);
  assert.deepEqual(await ours.take('t', { waitMs: 1 }), []);
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
