import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { queueContract } from '../ports/queue-contract.ts';
import { QUEUE_LEASE_BOUNDS, queueLeaseContract } from '../ports/queue-lease-contract.ts';
import { queueOutageContract } from '../ports/queue-outage-contract.ts';
import { EXPIRED, NEVER, QUEUE_CONTRACT_BOUNDS, userOf } from '../ports/queue-user-contract.ts';
import { freshTenant } from '../testing/calls.ts';
import { openGate } from '../testing/gate.ts';
import { natsSkip, openTestNats } from '../testing/nats.ts';
import { REQUEST_TIMEOUT_MS } from './connection.ts';
import { isBehind } from './groups.ts';
import { consumerOf, streamOf, subjectOf } from './places.ts';
import { openNatsQueue } from './queue.ts';

const deps = { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS };
const skip = { skip: natsSkip };
let server: ReturnType<typeof openTestNats> | null = null;
const url = async (): Promise<string> => {
  server ??= openTestNats();
  return (await server).url;
};
/** One server for the file. */
after(async () => (await server)?.stop());
const close = async (): Promise<void> => {};

queueContract(
  'NATS',
  async () => {
    const port = openNatsQueue(await url(), deps);
    return { port, close: () => port.close() };
  },
  {
    ...skip,
    lacks: {
      delays: 'JetStream keeps no message back, and the surface refuses to',
      ownJournal: 'JetStream writes nothing beside a message, so the host remembers calls',
    },
  },
);

queueLeaseContract(
  'NATS',
  async () => {
    const port = openNatsQueue(await url(), { ...deps, bounds: QUEUE_LEASE_BOUNDS });
    return { port, close: () => port.close() };
  },
  skip,
);

queueOutageContract(
  'NATS',
  async () => ({ url: await url(), open: async (each) => openNatsQueue(each, deps), close }),
  skip,
);

test('another process can settle a delivery until its time is over', skip, async (t) => {
  const tenant = freshTenant();
  const ports = await Promise.all([1, 2].map(async () => openNatsQueue(await url(), deps)));
  t.after(() => Promise.all(ports.map((port) => port.close())));
  const [one, two] = ports.map((port) => userOf(port, tenant));
  assert.ok(one && two);
  await one.publish('t', 1);
  const delivery = await one.takeOne('t');
  await two.ack(delivery);
  await one.publish('t', 2);
  const short = await one.takeOne('t', { visibilityMs: 100 });
  await one.takeOne('t');
  await assert.rejects(two.ack(short), EXPIRED);
});

test('I10: a body that is no message is reported, and is a dead letter', skip, async (t) => {
  const tenant = freshTenant();
  const reports: unknown[] = [];
  const port = openNatsQueue(await url(), { ...deps, report: (fault) => reports.push(fault) });
  const nats = await connect({ servers: new URL(await url()).host });
  t.after(() => Promise.all([port.close(), nats.close()]));
  const { publish, drain } = userOf(port, tenant);
  await publish('t', 'ours');
  const bodies = ['not JSON', '{"messageId":"m","payload":1,"headers":{"a\\nb":5}}', '{"messageId":"a\\nb"}'];
  for (const body of bodies) await nats.request(subjectOf(tenant, 't'), body);
  await nats.request(subjectOf(tenant, 't'), new Uint8Array([255]));
  const got = await drain('t', { group: 'g' });
  assert.deepEqual(
    got.map(({ payload }) => payload),
    ['ours'],
  );
  assert.equal(reports.length, bodies.length + 1);
  assert.match(String(reports[0]), /no message of this host.*"topic":"t"/);
  const letters = (await drain('t.dlq')).map(({ payload }) => payload as { [name: string]: unknown });
  assert.ok(letters.every(({ deadLetterReason }) => deadLetterReason === 'not_a_message'));
  assert.deepEqual(
    letters.map(({ original }) => original),
    [...bodies.map((text) => ({ bytes: text.length, text })), { bytes: 1, base64: '/w==' }],
  );
});

test('a group that the stream is ahead of is not taken for one without messages', skip, async (t) => {
  const tenant = freshTenant();
  const port = openNatsQueue(await url(), deps);
  const nats = await connect({ servers: new URL(await url()).host });
  t.after(() => Promise.all([port.close(), nats.close()]));
  const session = { nats, manager: await jetstreamManager(nats), streams: jetstream(nats), lost: NEVER };
  const { publish, takeOne } = userOf(port, tenant);
  const [stream, consumer] = [streamOf(tenant), consumerOf({ topic: 't', group: '' })];
  const behind = () => isBehind(session, { stream, consumer, subject: subjectOf(tenant, 't') });
  for (const topic of ['t', 't', 'other']) await publish(topic, 1);
  await takeOne('t');
  assert.equal(await behind(), true);
  await takeOne('t');
  assert.equal(await behind(), false, 'messages of other topics are not before it');
});

test('who asks or waits when the connection is lost is told at once', skip, async (t) => {
  const tenant = freshTenant();
  const server = new URL(await url());
  const gate = await openGate({ host: server.hostname, port: Number(server.port) });
  const nats = await connect({ servers: server.host });
  server.port = String(gate.port);
  const port = openNatsQueue(server.href, deps);
  t.after(async () => {
    await port.close();
    await gate.close();
    await nats.close();
  });
  const { publish, drain, take } = userOf(port, tenant);
  await publish('t', 1);
  await drain('t');
  const { consumers } = await jetstreamManager(nats);
  const waiting = take('t', { waitMs: 20_000 });
  const [stream, consumer] = [streamOf(tenant), consumerOf({ topic: 't', group: '' })];
  while ((await consumers.info(stream, consumer)).num_waiting === 0);
  gate.hush();
  const since = performance.now();
  const unanswered = [waiting, publish('t', 2), publish('new', 3), take('new'), port.health()];
  await Promise.all([
    gate.shut(),
    ...unanswered.map((each) => assert.rejects(each, { code: 'queue_backend_unavailable' })),
  ]);
  assert.ok(performance.now() - since < REQUEST_TIMEOUT_MS, 'nobody waits for the time of a request');
  await gate.reopen();
  while (!(await publish('t', 4).then(Boolean, () => false)));
  assert.deepEqual(
    (await drain('t')).map(({ payload }) => payload),
    [4],
  );
});

test('a server that is not there is named without its password', async () => {
  const port = openNatsQueue('nats://gantry:open-sesame@127.0.0.1:1', deps);
  await assert.rejects(port.health(), (error) => {
    assert.ok(error instanceof Error && 'code' in error);
    assert.equal(error.code, 'queue_backend_unavailable');
    assert.match(error.message, /127\.0\.0\.1:1\b/);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
});
