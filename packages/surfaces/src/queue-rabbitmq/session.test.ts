import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Gate, openGate } from '../testing/gate.ts';
import { openTestRabbit, rabbitSkip } from '../testing/rabbitmq.ts';
import { type RabbitLink, rabbitLink } from './connection.ts';
import { markEnd, readLog } from './log.ts';
import { LogWriters } from './log-writers.ts';
import { onChannel, type RabbitSession } from './session.ts';
import { NOTE, untilSettled } from './settled.ts';

const UNAVAILABLE = { code: 'queue_backend_unavailable' };
const SHORT_MS = 200;

const ask = async (session: RabbitSession): Promise<RabbitSession> => {
  await session.gets.prefetch(0);
  return session;
};

describe('a session of RabbitMQ', { skip: rabbitSkip }, () => {
  let server: Awaited<ReturnType<typeof openTestRabbit>>;
  before(async () => {
    server = await openTestRabbit();
  });
  after(() => server?.stop());

  const open = async (t: TestContext): Promise<{ gate: Gate; link: RabbitLink; losses: string[] }> => {
    const through = new URL(server.url);
    const gate = await openGate({ host: through.hostname, port: Number(through.port) });
    through.port = String(gate.port);
    const losses: string[] = [];
    const link = rabbitLink(through.href, () => losses.push('lost'));
    t.after(async () => {
      await link.close();
      await gate.close();
    });
    return { gate, link, losses };
  };

  test('S1, S2: a server that went silent is left, and the next call has a new connection', async (t) => {
    const { gate, link, losses } = await open(t);
    const first = await link.use(ask);
    gate.hush();
    await assert.rejects(link.use(ask, SHORT_MS), UNAVAILABLE);
    assert.deepEqual(losses, ['lost']);
    const ended = new Promise<void>((resolve) => first.connection.once('close', () => resolve()));
    const second = await link.use(ask);
    assert.notEqual(second, first);
    await ended;
    assert.equal(await link.use(ask), second, 'the end of the old connection is not that of the new one');
    assert.deepEqual(losses, ['lost']);
  });

  test('S1: all who are in it are told', async (t) => {
    const { gate, link } = await open(t);
    await link.use(ask);
    const log = 'nobody confirms';
    gate.hush();
    const parcel = { exchange: '', key: log, body: Buffer.alloc(0), options: {} };
    const others = [link.use(ask), link.use(({ logs }) => logs.write(log, parcel))];
    await Promise.all([
      ...others.map((each) => assert.rejects(each, UNAVAILABLE)),
      assert.rejects(link.use(ask, SHORT_MS), UNAVAILABLE),
    ]);
  });

  test('who closes a channel when the connection is lost is done with it', async (t) => {
    const { gate, link } = await open(t);
    const session = await link.use(ask);
    await onChannel(session, async () => {
      gate.hush();
      setImmediate(gate.shut);
    });
  });

  test('every log has a channel of its own, as long as it is used', async (t) => {
    const { link } = await open(t);
    const { connection } = await link.use(ask);
    const channels = t.mock.method(connection, 'createConfirmChannel');
    const lost = t.mock.fn();
    const writers = new LogWriters(connection, lost, 2);
    const write = (key: string) =>
      writers.write(key, { exchange: '', key, body: Buffer.alloc(0), options: {} });
    const opened = async (...logs: string[]): Promise<number> => {
      const before = channels.mock.callCount();
      await Promise.all(logs.map(write));
      return channels.mock.callCount() - before;
    };
    assert.equal(await opened('a', 'b', 'a', 'b'), 2);
    assert.equal(await opened('c'), 1);
    assert.equal(await opened('b', 'c'), 0);
    assert.equal(await opened('a'), 1, 'the one that was used first has given way');
    await assert.rejects(opened('a', 'b', 'c', 'd'), { ...UNAVAILABLE, message: /Too many topics/ });
    assert.equal(lost.mock.callCount(), 0);
  });

  test('who comes first after the server has started writes marks until none is lost', async (t) => {
    const { link } = await open(t);
    const session = await link.use(ask);
    const log = `marked-${randomUUID()}`;
    await onChannel(session, async (channel) => {
      await channel.deleteQueue(NOTE);
      await channel.assertQueue(log, { durable: true, arguments: { 'x-queue-type': 'stream' } });
    });
    const channels = t.mock.method(session.connection, 'createConfirmChannel');
    await untilSettled(session, log);
    const bodies: string[] = [];
    const end = await markEnd(session, log);
    for await (const { body } of readLog(session, log, { start: 'first', end, signal: session.lost }))
      bodies.push(String(body));
    assert.ok(bodies.length > 1 && bodies.every((body) => body === 'mark'), `${bodies}`);
    const before = channels.mock.callCount();
    await untilSettled(session, log);
    assert.equal(channels.mock.callCount(), before, 'those who come later find the note');
    await onChannel(session, (channel) => channel.deleteQueue(log));
  });
});
