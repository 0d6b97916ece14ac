/** Subscriptions that failed for good and come back, and secrets that are replaced. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { WebhookDelivery } from '@gantry/protocol';
import { receiver, status } from './testing/receiver.ts';
import { createWorld, finished, type World } from './testing/world.ts';

async function failNinetyNineTimes({ store, now }: World, webhookId: string): Promise<void> {
  const entry = await store.entries.get({ kind: 'webhook', tenant: 'acme', id: webhookId });
  assert.ok(entry);
  const failures = Array.from({ length: 99 }, (_, i) => now() - i).reverse();
  const health = { consecutiveFailures: 50, openUntil: null, failures };
  const body = JSON.stringify({ ...JSON.parse(entry.body), health });
  await store.commit([[{ kind: 'putEntry', entry: { ...entry, body }, expectedVersion: entry.version }]]);
}

test('a durable webhook that failed for good sends again: one by one, and all of it once resumed', async (t) => {
  const world = await createWorld(t);
  let code = 500;
  const { url, received } = await receiver(t, (response) => status(code)(response));
  const { webhookId } = await world.register({ url, events: ['*'], durable: true });
  const stateOf = async (): Promise<string> =>
    (await world.request('GET', `/v1/webhooks/${webhookId}`)).json().state;
  await failNinetyNineTimes(world, webhookId);
  await world.happen(['a', 'b']);
  const [b, a] = await finished(world, webhookId);
  assert.deepEqual([b?.state, a?.state, await stateOf()], ['dead', 'dead', 'failed']);

  const resend = async (of: WebhookDelivery | undefined): Promise<WebhookDelivery | undefined> => {
    const path = `/v1/host/gantry/webhooks/${webhookId}/deliveries/${of?.deliveryId}:resend`;
    const response = await world.request('POST', path);
    assert.equal(response.statusCode, 202, response.body);
    const { deliveryId } = response.json();
    const isSent = (list: readonly WebhookDelivery[]) =>
      list.some((each) => each.deliveryId === deliveryId && each.state !== 'pending');
    const list = await world.until(() => world.deliveries(webhookId), isSent);
    return list.find((each) => each.deliveryId === deliveryId);
  };
  const refused = await resend(a);
  assert.deepEqual([refused?.state, refused?.attempts, received.length], ['dead', 1, 2]);
  code = 204;
  assert.equal((await resend(a))?.state, 'delivered');
  assert.deepEqual([received.length, await stateOf()], [3, 'failed']);

  const resume = `/v1/host/gantry/webhooks/${webhookId}:resume`;
  const resumed = await world.request('POST', resume);
  assert.equal(resumed.statusCode, 200, resumed.body);
  const { state, circuit: its, failuresLast7Days } = resumed.json();
  assert.deepEqual([state, its, failuresLast7Days], ['active', 'closed', 0]);
  await world.happen(['c']);
  const all = await finished(world, webhookId);
  assert.equal(all.find(({ type }) => type === 'c')?.state, 'delivered');
});

async function rotatingWorld(t: TestContext) {
  const world = await createWorld(t);
  const { url, got } = await receiver(t);
  const { webhookId, secret: old } = await world.register({ url, events: ['*'] });
  const rotate = (body: object) =>
    world.request('POST', `/v1/host/gantry/webhooks/${webhookId}:rotate-secret`, { body });
  const signaturesOf = async (count: number) => {
    await world.happen(['a']);
    const { headers, body } = (await got(count)).at(-1)!;
    const under = (secret: string) =>
      `sha256=${createHmac('sha256', secret).update(`${headers['x-openwop-timestamp']}.${body}`).digest('hex')}`;
    assert.equal(headers['openwop-signature-previous'], headers['x-openwop-signature-previous']);
    return {
      current: headers['x-openwop-signature'],
      previous: headers['x-openwop-signature-previous'],
      under,
    };
  };
  return { world, webhookId, old, rotate, signaturesOf };
}

test('while a new secret replaces the old one both sign, until the overlap ends', async (t) => {
  const { world, webhookId, old, rotate, signaturesOf } = await rotatingWorld(t);
  const first = await rotate({ overlapSeconds: 60 });
  assert.equal(first.statusCode, 200, first.body);
  const { secret, secretFingerprint, previousSecretUntil } = first.json();
  assert.equal(previousSecretUntil, new Date(world.now() + 60_000).toISOString());
  assert.notEqual(secret, old);
  const during = await signaturesOf(1);
  assert.deepEqual([during.current, during.previous], [during.under(secret), during.under(old)]);
  world.pass(60_000);
  const after = await signaturesOf(2);
  assert.deepEqual([after.current, after.previous], [after.under(secret), undefined]);
  const read = (await world.request('GET', `/v1/webhooks/${webhookId}`)).json();
  assert.deepEqual([read.secretFingerprint, read.previousSecretUntil], [secretFingerprint, undefined]);

  const last = (await rotate({ overlapSeconds: 0 })).json();
  const atOnce = await signaturesOf(3);
  assert.deepEqual([atOnce.current, atOnce.previous], [atOnce.under(last.secret), undefined]);
  assert.equal((await rotate({ overlapSeconds: 604_801 })).statusCode, 400);
  assert.ok(!world.logged.join('').includes(secret));
});

test('rotations whose answers were lost leave the secret that the receiver has', async (t) => {
  const { world, webhookId, old, rotate, signaturesOf } = await rotatingWorld(t);
  const previousOf = (signatures: Awaited<ReturnType<typeof signaturesOf>>) =>
    String(signatures.previous).split(', ');
  for (let lost = 0; lost < 2; lost++) assert.equal((await rotate({})).statusCode, 200);
  const { secret } = (await rotate({})).json();
  const third = await signaturesOf(1);
  assert.equal(third.current, third.under(secret));
  assert.ok(previousOf(third).includes(third.under(old)));

  for (let lost = 0; lost < 6; lost++) await rotate({});
  const { secret: known } = (await rotate({})).json();
  const newest = (await rotate({})).json();
  const many = await signaturesOf(2);
  assert.equal(previousOf(many).length, 4);
  assert.equal(many.current, many.under(newest.secret));
  assert.deepEqual([previousOf(many)[0], previousOf(many)[3]], [many.under(known), many.under(old)]);

  const shorter = (await rotate({ overlapSeconds: 60 })).json();
  world.pass(60_000);
  const over = await signaturesOf(3);
  assert.deepEqual([over.current, over.previous], [over.under(shorter.secret), undefined]);
  const { previousSecretUntil } = (await world.request('GET', `/v1/webhooks/${webhookId}`)).json();
  assert.equal(previousSecretUntil, undefined);
});

test('the hundredth failure in seven days switches a subscription off', async (t) => {
  const world = await createWorld(t);
  const { url, received } = await receiver(t, status(500));
  const { webhookId, secret } = await world.register({ url, events: ['*'] });
  await failNinetyNineTimes(world, webhookId);
  await world.happen(['a', 'b']);
  const reasons = (await finished(world, webhookId)).map(({ lastReason }) => lastReason);
  assert.deepEqual(reasons, ['subscription_failed', 'http_status']);
  assert.equal((await world.request('GET', `/v1/webhooks/${webhookId}`)).json().state, 'failed');
  await world.happen(['c']);
  assert.equal((await world.deliveries(webhookId)).length, 2);
  assert.equal(received.length, 1);
  const lines = world.logged.filter((line) => line.includes(webhookId));
  assert.ok(lines.some((line) => line.includes('switched off')));
  assert.ok(!world.logged.join('').includes(secret) && !world.logged.join('').includes(url));
});
