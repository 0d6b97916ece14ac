import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLIC_POLICY } from '@gantry/egress';
import type { WebhookDelivery } from '@gantry/protocol';
import { CLAIM_MS } from '../deliveries/delivery-lanes.ts';
import { ATTEMPTS_MAX } from '../deliveries/retry.ts';
import { receiver, status } from './testing/receiver.ts';
import { createWorld, finished, states, type World } from './testing/world.ts';

const HOUR = 3_600_000;

const attempted = (world: World, webhookId: string, attempts: number): Promise<WebhookDelivery[]> =>
  world.until(
    () => world.deliveries(webhookId),
    ([first]) => first?.attempts === attempts && first.lastAttemptAt === new Date(world.now()).toISOString(),
  );

const circuit = async (world: World, webhookId: string): Promise<string> =>
  (await world.request('GET', `/v1/webhooks/${webhookId}`)).json().circuit;

test('four failures in a row open the circuit; after an hour one delivery probes', async (t) => {
  const world = await createWorld(t);
  let code = 500;
  const { url, received } = await receiver(t, (response) => status(code)(response));
  const { webhookId } = await world.register({ url, events: ['*'] });
  await world.happen(['a', 'b', 'c', 'd', 'e', 'f']);
  const reasons = (await finished(world, webhookId)).map(({ lastReason }) => lastReason);
  assert.deepEqual(reasons, ['circuit_open', 'circuit_open', ...Array(4).fill('http_status')]);
  assert.equal(received.length, 4);
  assert.equal(await circuit(world, webhookId), 'open');

  world.advance(HOUR);
  assert.equal(await circuit(world, webhookId), 'half-open');
  await world.happen(['probe', 'dropped']);
  assert.deepEqual(
    (await finished(world, webhookId)).slice(0, 2).map(({ lastReason }) => lastReason),
    ['circuit_open', 'http_status'],
  );
  assert.equal(received.length, 5);

  world.advance(HOUR);
  code = 200;
  await world.happen(['probe', 'more']);
  assert.deepEqual(states(await finished(world, webhookId)).slice(0, 2), ['delivered', 'delivered']);
  assert.equal(await circuit(world, webhookId), 'closed');
});

test('a durable delivery is tried ten times, waits while the circuit is open, and ends as a dead letter', async (t) => {
  const world = await createWorld(t);
  let code = 503;
  const { url, received, got } = await receiver(t, (response) => status(code)(response));
  const { webhookId } = await world.register({ url, events: ['*'], durable: true });
  await world.happen(['run.completed']);
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
    await got(attempt);
    const [waiting] = await attempted(world, webhookId, attempt);
    assert.deepEqual([waiting?.state, waiting?.lastStatus], ['pending', 503]);
    assert.equal(await circuit(world, webhookId), attempt < 4 ? 'closed' : 'open');
    world.advance(14 * HOUR);
  }
  const [dead] = await finished(world, webhookId);
  assert.deepEqual([dead?.state, dead?.attempts, received.length], ['dead', ATTEMPTS_MAX, ATTEMPTS_MAX]);
  assert.equal(new Set(received.map(({ headers }) => headers['x-openwop-delivery-id'])).size, 1);

  code = 200;
  world.advance(HOUR);
  const url2 = `/v1/host/gantry/webhooks/${webhookId}/deliveries/${dead?.deliveryId}:resend`;
  const headers = { 'idempotency-key': 'again' };
  const resent = await world.request('POST', url2, { headers });
  assert.equal(resent.statusCode, 202, resent.body);
  assert.equal((await world.request('POST', url2, { headers })).body, resent.body);
  const [sent, ...others] = await finished(world, webhookId);
  assert.deepEqual([sent?.state, sent?.resendOf, sent?.attempts], ['delivered', dead?.deliveryId, 1]);
  assert.deepEqual([others.length, received.at(-1)?.body], [1, received[0]?.body]);
});

test('a receiver that does not answer holds up nobody, however much waits for it', async (t) => {
  const world = await createWorld(t);
  const held: (() => void)[] = [];
  const slow = await receiver(t, (response) => void held.push(() => response.writeHead(204).end()));
  const { webhookId } = await world.register({ url: slow.url, events: ['*'] });
  await world.happen(Array.from({ length: 300 }, (_, i) => `n${i}`));
  await slow.got(1);
  const quick = await receiver(t);
  await world.register({ url: quick.url, events: ['run.completed'] });
  await world.happen(['run.completed']);
  await quick.got(1);
  assert.equal(slow.received.length, 1, 'one at a time');
  held[0]?.();
  await slow.got(2);
  assert.deepEqual(
    slow.received.map(({ body }) => JSON.parse(body).type),
    ['n0', 'n1'],
  );
  await world.request('DELETE', `/v1/webhooks/${webhookId}`);
  held[1]?.();
  await world.until(
    () => world.store.entries.count('delivery', 'acme'),
    (count) => count === 0,
  );
  assert.equal(slow.received.length, 2, 'nothing more after the delete');
});

test('slow receivers of one tenant do not hold up the deliveries of another', async (t) => {
  const world = await createWorld(t);
  const held: (() => void)[] = [];
  const slow = await receiver(t, (response) => void held.push(() => response.writeHead(204).end()));
  for (let i = 0; i < 40; i++) await world.register({ url: slow.url, events: ['*'] });
  await world.happen(['run.completed']);
  await slow.got(16);
  const other = await world.key('other');
  const quick = await receiver(t);
  const body = { url: quick.url, events: ['*'] };
  assert.equal((await world.request('POST', '/v1/webhooks', { body, key: other })).statusCode, 201);
  await world.happen(['run.completed', 'again'], { owner: { tenant: 'other' } });
  await quick.got(2);
  assert.equal(slow.received.length, 16, 'while all of the others still wait for their answers');
  for (let i = 0; i < 40; i++) {
    await slow.got(i + 1);
    held[i]?.();
  }
});

/** A process that stalls between its claim and its attempt. */
async function stalling({ store, another, ending }: World) {
  const wakeUp = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  const events: typeof store.runs.events = async (...args) => {
    claimed.resolve();
    await Promise.race([wakeUp.promise, ending]);
    return store.runs.events(...args);
  };
  const webhooks = another({ store: { ...store, runs: { ...store.runs, events } } });
  await webhooks.start();
  return { webhooks, claimed: claimed.promise, wakeUp: wakeUp.resolve };
}

test('what a process claimed and did not send is sent by another when the claim ends', async (t) => {
  const world = await createWorld(t);
  const { url, received, got } = await receiver(t);
  const { webhookId } = await world.register({ url, events: ['*'] });
  const { webhooks: stalled, claimed, wakeUp } = await stalling(world);
  await world.happen(['run.completed'], {}, stalled);
  await claimed;
  world.advance(CLAIM_MS - 1);
  assert.deepEqual(received, []);
  world.advance(1);
  await got(1);
  const [delivery] = await finished(world, webhookId);
  assert.deepEqual([delivery?.state, delivery?.attempts], ['delivered', 2]);

  // The first process was only slow: its late attempt is a repeat that the receiver can tell, and changes nothing.
  wakeUp();
  const [first, second] = await got(2);
  assert.equal(second?.headers['x-openwop-delivery-id'], first?.headers['x-openwop-delivery-id']);
  await stalled.stop();
  assert.deepEqual(await world.deliveries(webhookId), [delivery]);
});

test('while one process probes, the circuit stays open for the others', async (t) => {
  const world = await createWorld(t);
  const { url, received } = await receiver(t, status(500));
  const { webhookId } = await world.register({ url, events: ['*'] });
  await world.happen(['a', 'b', 'c', 'd']);
  await finished(world, webhookId);
  world.pass(HOUR);
  const { webhooks: prober, claimed, wakeUp } = await stalling(world);
  await world.happen(['probe'], {}, prober);
  await claimed;
  await world.happen(['next']);
  const isNext = ({ type, state }: WebhookDelivery) => type === 'next' && state === 'failed';
  const list = await world.until(
    () => world.deliveries(webhookId),
    (each) => each.some(isNext),
  );
  const dropped = list.find(isNext);
  assert.deepEqual([dropped?.lastReason, received.length], ['circuit_open', 4]);
  wakeUp();
  const probe = (await finished(world, webhookId)).find(({ type }) => type === 'probe');
  assert.deepEqual([probe?.lastReason, received.length], ['http_status', 5]);
});

test('two processes at the same lane send each delivery once', async (t) => {
  const world = await createWorld(t);
  const { url, received } = await receiver(t);
  const { webhookId } = await world.register({ url, events: ['*'] });
  const second = world.another();
  await second.start();
  await world.happen(Array.from({ length: 40 }, (_, i) => `n${i}`));
  world.advance(0);
  await finished(world, webhookId);
  const ids = new Set(received.map(({ headers }) => headers['x-openwop-delivery-id']));
  assert.deepEqual([received.length, ids.size], [40, 40]);
});

test('a host name that turns to a private address after registration is not called', async (t) => {
  let address = '93.184.215.14';
  const world = await createWorld(t, { policy: PUBLIC_POLICY, lookup: async () => [address] });
  const { webhookId } = await world.register({ url: 'https://rebound.example/hook', events: ['*'] });
  address = '127.0.0.1';
  await world.happen(['run.completed']);
  const [delivery] = await finished(world, webhookId);
  assert.deepEqual([delivery?.state, delivery?.lastReason], ['failed', 'address_not_allowed']);
  assert.equal(delivery?.lastStatus, undefined);
});

test('a redirect is a failure and is not followed', async (t) => {
  const world = await createWorld(t);
  const elsewhere = await receiver(t);
  const { url } = await receiver(
    t,
    (response) => void response.writeHead(307, { location: elsewhere.url }).end(),
  );
  const { webhookId } = await world.register({ url, events: ['*'] });
  await world.happen(['run.completed']);
  const [delivery] = await finished(world, webhookId);
  assert.deepEqual([delivery?.state, delivery?.lastStatus], ['failed', 307]);
  assert.deepEqual(elsewhere.received, []);
});

test('what was committed before a crash is sent by the next process', async (t) => {
  const world = await createWorld(t);
  const { url, received, got } = await receiver(t);
  const { webhookId } = await world.register({ url, events: ['*'] });
  await world.webhooks.stop();
  await world.happen(['run.started', 'run.completed']);
  assert.deepEqual(received, []);
  await world.another().start();
  await got(2);
  assert.deepEqual(states(await finished(world, webhookId)), ['delivered', 'delivered']);
});

test('what is done stays listed for seven days, a dead letter for thirty', async (t) => {
  const world = await createWorld(t);
  const { url } = await receiver(t);
  const plain = await world.register({ url, events: ['*'] });
  const durable = await world.register({ url, events: ['*'], durable: true });
  await world.webhooks.stop();
  await world.happen(['run.completed']);
  const { store } = world;
  const empty = { ...store, runs: { ...store.runs, events: async () => [] } };
  await world.another({ store: empty }).start();
  const [failed] = await finished(world, plain.webhookId);
  const [dead] = await finished(world, durable.webhookId);
  assert.deepEqual([failed?.state, failed?.lastReason], ['failed', 'event_gone']);
  assert.deepEqual([dead?.state, dead?.lastReason], ['dead', 'event_gone']);
  assert.equal(await circuit(world, durable.webhookId), 'closed');
  await store.retention.deleteExpired(world.now() + 7 * 24 * HOUR, 0, 100);
  assert.deepEqual(await world.deliveries(plain.webhookId), []);
  assert.equal((await world.deliveries(durable.webhookId)).length, 1);
  await store.retention.deleteExpired(world.now() + 30 * 24 * HOUR, 0, 100);
  assert.deepEqual(await world.deliveries(durable.webhookId), []);
});
