import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunFacts } from '@gantry/engine';
import type { StoredEvent } from '@gantry/protocol';
import type { Entry, Write } from '@gantry/store';
import fc from 'fast-check';
import { toDelivery } from './delivery.ts';
import { createDeliveryStamps } from './delivery-id.ts';
import { HEALTHY } from './health.ts';
import { WebhookOutbox } from './outbox.ts';
import type { Subscription, WebhookKey } from './subscription.ts';
import { Subscriptions } from './subscriptions.ts';
import { runFacts, storedEvent } from './testing/world.ts';

const NOW = 1_000;
const zeros = (count: number): Uint8Array => new Uint8Array(count);
const EVENTS = ['run.started', 'node.completed', 'run.completed'].map((type, i) => storedEvent(type, i));

const subscription = (more: Partial<Subscription> = {}): Subscription => ({
  tenant: 'acme',
  webhookId: 'wh_1',
  url: 'https://example.com/',
  events: ['*'],
  tags: null,
  durable: false,
  secretSealed: '',
  secretFingerprint: '',
  state: 'active',
  health: HEALTHY,
  createdAt: 0,
  version: 1,
  ...more,
});

function outboxOf(...active: Subscription[]) {
  const woken: WebhookKey[] = [];
  const never = (): never => assert.fail('the outbox does not read');
  const entries = { get: never, list: never, count: never, due: never, nextDueAt: never, all: never };
  const subscriptions = new Subscriptions(entries);
  for (const each of active) subscriptions.put(each);
  const stamp = createDeliveryStamps(() => NOW, zeros);
  const outbox = new WebhookOutbox({ subscriptions, stamp, wake: (key) => void woken.push(key) });
  return { outbox, woken, subscriptions };
}

const entriesOf = (writes: readonly Write[]): Entry[] =>
  writes.map((write) => {
    assert.ok(write.kind === 'putEntry' && write.expectedVersion === null);
    return { ...write.entry, version: 1 };
  });

const sequences = (facts: Partial<RunFacts>, events: readonly StoredEvent[] = EVENTS): number[] =>
  entriesOf(outboxOf(subscription()).outbox.writes(runFacts(facts), events)).map(
    (entry) => toDelivery(entry).sequence,
  );

test('each event that matches is one delivery, due now, in order', () => {
  const { outbox } = outboxOf(subscription(), subscription({ webhookId: 'wh_2', events: ['run.*'] }));
  const entries = entriesOf(outbox.writes(runFacts({ runId: 'run_1' }), EVENTS));
  assert.deepEqual(
    entries.map(({ ref, dueAt, tenant, kind }) => [ref, dueAt, tenant, kind]),
    [...Array(3).fill('wh_1'), 'wh_2', 'wh_2'].map((ref) => [ref, NOW, 'acme', 'delivery']),
  );
  assert.deepEqual(
    entries.map(({ id }) => id),
    entries.map(({ id }) => id).sort(),
  );
  assert.equal(new Set(entries.map(({ id }) => id)).size, 5);
});

test('a replay tells nobody, and a branch only of what is new', () => {
  const link = { sourceRunId: 'run_0', fromSeq: 2 };
  assert.deepEqual(sequences({ fork: { ...link, mode: 'replay' } }), []);
  assert.deepEqual(sequences({ fork: { ...link, mode: 'branch' } }), [2]);
  assert.deepEqual(sequences({}), [0, 1, 2]);
});

test('subscriptions that failed or were removed, and those of other tenants, get nothing', () => {
  const { outbox, subscriptions } = outboxOf(
    subscription(),
    subscription({ tenant: 'other', webhookId: 'wh_3' }),
  );
  subscriptions.put(subscription({ state: 'failed' }));
  assert.deepEqual(outbox.writes(runFacts(), EVENTS), []);
  subscriptions.put(subscription());
  subscriptions.remove({ tenant: 'acme', webhookId: 'wh_1' });
  assert.deepEqual(outbox.writes(runFacts(), EVENTS), []);
});

test('a lane is woken by every commit until it has seen what was written for it', () => {
  const { outbox, woken } = outboxOf(subscription());
  outbox.committed();
  assert.deepEqual(woken, []);
  const deliveries = entriesOf(outbox.writes(runFacts(), EVENTS)).map(toDelivery);
  const key = { tenant: 'acme', webhookId: 'wh_1' };
  outbox.committed();
  outbox.seen(key, deliveries.slice(1), NOW);
  outbox.committed();
  assert.deepEqual(woken, [key, key]);
  outbox.seen(key, deliveries, NOW);
  outbox.committed();
  assert.equal(woken.length, 2);
});

test('what never came to the store is forgotten', () => {
  const { outbox, woken } = outboxOf(subscription());
  outbox.writes(runFacts(), EVENTS);
  outbox.seen({ tenant: 'acme', webhookId: 'wh_1' }, [], NOW + 60_000);
  outbox.committed();
  assert.deepEqual(woken, []);
});

test('delivery ids grow, whatever the clock does', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 41 }), { minLength: 2 }), (times) => {
      let i = 0;
      const stamp = createDeliveryStamps(() => times[i++] ?? 0, zeros);
      const ids = times.map(() => stamp().id);
      assert.deepEqual(ids, [...new Set(ids)].sort());
    }),
  );
});
