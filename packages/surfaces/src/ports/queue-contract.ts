/** What every backend of the queue port must do, through the port: I1 to I7. Times are real: databases have clocks. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freshTenant, write } from '../testing/calls.ts';
import type { QueueMessage, QueuePort } from './queue.ts';
import { queueDeadLetters } from './queue-dead-letter-contract.ts';
import { queueRoom } from './queue-room-contract.ts';
import { queueStreams } from './queue-stream-contract.ts';
import { queueSubscriptions } from './queue-subscription-contract.ts';
import { queueThroughSurface } from './queue-surface-contract.ts';
import { EXPIRED, NEVER, type QueueUser, type Users, userOf } from './queue-user-contract.ts';

export interface OpenedQueue {
  readonly port: QueuePort;
  close(): Promise<void>;
}

/** Long enough for two calls on a busy machine. */
const LEASE_MS = 1_000;

export interface QueueContractOptions {
  readonly skip?: string | false;
}

/** `open` makes a port with `QUEUE_CONTRACT_BOUNDS`. Every test is a tenant of its own. */
export function queueContract(
  name: string,
  open: () => Promise<OpenedQueue>,
  { skip = false }: QueueContractOptions = {},
): void {
  describe(`queue port: ${name}`, { skip }, () => {
    let opened: OpenedQueue | null = null;
    const port = (): QueuePort => opened?.port ?? assert.fail('the port is not open');
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    const user = (tenant = freshTenant()): QueueUser => userOf(port(), tenant);
    messages(user);
    groups(user);
    deliveries(user);
    tenants(user);
    repeats(user);
    delays(user);
    queueRoom(user);
    queueDeadLetters(user);
    queueStreams(user);
    queueSubscriptions(user);
    queueThroughSurface(port);
    test('is healthy', () => port().health());
  });
}

const payloads = (deliveries: readonly QueueMessage[]) => deliveries.map(({ payload }) => payload);

/** Everything that means something to subjects, routing keys, patterns or SQL, and the ends of UTF-8. */
const NAMES = [
  'a.b',
  '*',
  '>',
  '#',
  'a b',
  '$JS',
  '../x',
  "'; drop table queue_messages; --",
  '%_',
  'é',
  '🙂',
  '\uffff',
  '\n',
];

function messages(user: Users): void {
  test('what is published is delivered, in order, with headers', async () => {
    const { publish, take, ack } = user();
    const values = [{ n: 1 }, 'two', null, [3], 4.5, false, { __proto__x: '🙂' }];
    const ids: string[] = [];
    for (const value of values) ids.push(await publish('t', value));
    const got = await take('t');
    assert.deepEqual(payloads(got), values);
    assert.deepEqual(
      got.map(({ messageId }) => messageId),
      ids,
    );
    assert.ok(got.every(({ headers, deliveryCount }) => headers.kind === 'test' && deliveryCount === 1));
    for (const delivery of got) await ack(delivery);
    assert.deepEqual(await take('t'), []);
  });

  test('asks for no more than it is told to, and an unknown topic has nothing', async () => {
    const { publish, take } = user();
    for (let n = 0; n < 5; n++) await publish('t', n);
    assert.deepEqual(payloads(await take('t', { messagesMax: 2 })), [0, 1]);
    assert.deepEqual(payloads(await take('t', { messagesMax: 2 })), [2, 3]);
    assert.deepEqual(payloads(await take('t', { messagesMax: 2 })), [4]);
    assert.deepEqual(await take('nobody-publishes-here'), []);
  });

  test('nothing in a name has a meaning of its own', async () => {
    const { publish, take } = user();
    for (const topic of NAMES) await publish(topic, topic);
    for (const topic of NAMES) assert.deepEqual(payloads(await take(topic)), [topic]);
    for (const group of NAMES.slice(0, 4)) assert.deepEqual(payloads(await take('a.b', { group })), ['a.b']);
  });

  test('who waits is woken', async () => {
    const { publish, takeOne } = user();
    await publish('t', 'first');
    await takeOne('t');
    const waiting = takeOne('t');
    await publish('t', 'second');
    assert.equal((await waiting).payload, 'second');
  });
}

function groups(user: Users): void {
  test('I2: every group gets every message; a new one starts with the oldest', async () => {
    const { publish, take, ack } = user();
    await publish('t', 1);
    await publish('t', 2);
    for (const delivery of await take('t')) await ack(delivery);
    assert.deepEqual(payloads(await take('t', { group: 'audit' })), [1, 2]);
    await publish('t', 3);
    assert.deepEqual(payloads(await take('t', { group: 'audit' })), [3]);
    assert.deepEqual(payloads(await take('t')), [3]);
  });

  test('consumers of one group share, and no message goes to two of them', async () => {
    const { publish, take } = user();
    await Promise.all(Array.from({ length: 24 }, (_, n) => publish('t', n)));
    const shares = await Promise.all(Array.from({ length: 6 }, () => take('t', { messagesMax: 8 })));
    const numbers = payloads(shares.flat()).map(Number);
    assert.equal(new Set(numbers).size, numbers.length);
    const rest = payloads(await take('t', { messagesMax: 24 })).map(Number);
    assert.deepEqual(
      [...numbers, ...rest].toSorted((a, b) => a - b),
      Array.from({ length: 24 }, (_, n) => n),
    );
  });
}

function deliveries(user: Users): void {
  test('I3: given back, it comes again with a higher count and a new handle', async () => {
    const { publish, takeOne, nack, ack } = user();
    const id = await publish('t', 'x');
    const first = await takeOne('t');
    await nack(first);
    const second = await takeOne('t');
    assert.deepEqual([second.messageId, second.deliveryCount], [id, 2]);
    await assert.rejects(ack(first), EXPIRED);
    await assert.rejects(nack(first), EXPIRED);
    await ack(second);
    await assert.rejects(ack(second), EXPIRED);
  });

  test('I3: of two who settle a delivery at once one wins', async () => {
    const { publish, takeOne, ack, nack } = user();
    await publish('t', 'x');
    const delivery = await takeOne('t');
    const results = await Promise.allSettled([ack(delivery), nack(delivery), ack(delivery)]);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  test('I3: after its time it comes again, and the old handle is good for nothing', async () => {
    const { publish, take, takeOne, ack } = user();
    await publish('t', 'x');
    const takenAt = Date.now();
    const first = await takeOne('t', { visibilityMs: LEASE_MS });
    const early = await take('t');
    // Where a machine stood still for a while, its time is over already
    if (Date.now() - takenAt < LEASE_MS) assert.deepEqual(early, [], 'nobody else gets it meanwhile');
    const second = early[0] ?? (await takeOne('t'));
    assert.equal(second.deliveryCount, 2);
    await assert.rejects(ack(first), EXPIRED);
    await ack(second);
    assert.deepEqual(await take('t'), []);
  });
}

function tenants(user: Users): void {
  test('I1: tenants share nothing: topics, groups, handles, dead letters, streams', async () => {
    const [ours, theirs] = [user(), user()];
    await ours.publish('t', 'ours');
    await ours.publish('t', 'dead');
    const [mine, dead] = await ours.take('t');
    assert.ok(mine && dead);
    assert.deepEqual(await theirs.take('t'), []);
    assert.deepEqual(await theirs.take('t', { group: 'g' }), []);
    for (const act of [theirs.ack, theirs.nack]) await assert.rejects(act(mine), EXPIRED);
    await assert.rejects(theirs.addDeadLetter(mine, 'no'), EXPIRED);
    await ours.addDeadLetter(dead, 'yes');
    await theirs.publish('t', 'theirs');
    assert.deepEqual(payloads(await theirs.take('t.dlq')), []);
    assert.deepEqual(payloads(await theirs.take('t')), ['theirs']);
    const seen: unknown[] = [];
    for await (const { payload } of theirs.stream('t', { fromBeginning: true, follow: false }))
      seen.push(payload);
    assert.deepEqual(seen, ['theirs']);
    await ours.ack(mine);
  });

  test('I1: made-up handles are good for nothing', async () => {
    const { publish, takeOne, ack } = user();
    await publish('t', 1);
    const delivery = await takeOne('t');
    const made = ['', 'x', '1.1.1', '0.0.0', '-1.1.1', '1e3.1.1', '$JS.ACK.x.y.1.1.1.1.1', "' or 1=1 --"];
    for (const handle of made) await assert.rejects(ack({ ...delivery, handle }), EXPIRED, handle);
    await ack(delivery);
  });
}

function repeats(user: Users): void {
  test('I7: what is published again is no second message', async () => {
    const { publish, take } = user();
    assert.equal(await publish('t', 1, 'same'), await publish('t', 1, 'same'));
    assert.equal((await take('t')).length, 1);
  });

  test('I7: what is remembered happens once', async () => {
    const { publish, port, tenant } = user();
    await publish('u', 1);
    const request = { topic: 'u', group: '', messagesMax: 1, visibilityMs: 30_000, waitMs: 0, signal: NEVER };
    const call = write(tenant, { now: Date.now() });
    const first = await port.consume(request, call);
    assert.equal(first.length, 1);
    assert.deepEqual(await port.consume(request, call), first);
    const settle = write(tenant, { now: Date.now() });
    for (let n = 0; n < 2; n++)
      assert.deepEqual(await port.settle(first[0]!.handle, { kind: 'done' }, settle), {
        topic: 'u',
        dead: false,
      });
  });
}

function delays(user: Users): void {
  test('delayed messages come when they are due', async () => {
    const { port, tenant, takeOne } = user();
    const publishedAt = Date.now();
    const call = () => write(tenant, { now: publishedAt });
    const draft = { topic: 't', headers: {}, delayMs: 0 };
    await port.publish({ ...draft, payload: 'later', delayMs: LEASE_MS }, call());
    await port.publish({ ...draft, payload: 'now' }, call());
    const taking = { topic: 't', group: '', messagesMax: 10, visibilityMs: 30_000, waitMs: 0, signal: NEVER };
    assert.deepEqual(payloads(await port.consume(taking, call())), ['now']);
    const later = await takeOne('t');
    assert.deepEqual([later.payload, later.deliveryCount], ['later', 1]);
  });

  test('who waits goes on waiting while what came is delayed', async () => {
    const { port, tenant, takeOne } = user();
    const draft = { topic: 't', headers: {}, payload: 'later', delayMs: LEASE_MS };
    await port.publish(draft, write(tenant, { now: Date.now() }));
    assert.equal((await takeOne('t')).payload, 'later');
  });

  test('what is ready is found behind many that are delayed', async () => {
    const { port, tenant, take } = user();
    const publish = (delayMs: number) =>
      port.publish(
        { topic: 't', headers: {}, delayMs, payload: delayMs },
        write(tenant, { now: Date.now() }),
      );
    await Promise.all(Array.from({ length: 60 }, () => publish(3_600_000)));
    await publish(0);
    assert.deepEqual(payloads(await take('t', { messagesMax: 1 })), [0]);
  });
}
