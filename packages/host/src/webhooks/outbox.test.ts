import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunFacts } from '@gantry/engine';
import type { StoredEvent } from '@gantry/protocol';
import { fromEntry } from '@gantry/resources';
import { type Entry, storedEntry, type Write } from '@gantry/store';
import type { LaneKey } from '../deliveries/lanes.ts';
import { DELIVERIES } from './delivery.ts';
import { HEALTHY } from './health.ts';
import { WebhookOutbox } from './outbox.ts';
import { Subscriptions } from './subscriptions.ts';
import { runFacts, storedEvent } from './testing/world.ts';
import { type Webhook, type WebhookRecord, webhooks } from './webhook.ts';

const NOW = 1_000;
const EVENTS = ['run.started', 'node.completed', 'run.completed'].map((type, i) => storedEvent(type, i));

type Given = Partial<WebhookRecord> & { readonly id?: string; readonly tenant?: string };

const subscription = ({ id = 'wh_1', tenant = 'acme', ...more }: Given = {}): Webhook => ({
  kind: webhooks,
  tenant,
  id,
  workspace: 'default',
  createdAt: 0,
  version: 1,
  record: {
    url: 'https://example.com/',
    events: ['*'],
    tags: null,
    durable: false,
    secret: { sealed: '' },
    secretFingerprint: '',
    state: 'active',
    health: HEALTHY,
    ...more,
  },
});

const toDelivery = (entry: Entry) => fromEntry(DELIVERIES.pending, entry);

const outboxOf = (...active: Webhook[]) => outboxAt(() => NOW, ...active);

function outboxAt(now: () => number, ...active: Webhook[]) {
  const woken: LaneKey[] = [];
  const never = (): never => assert.fail('the outbox does not read');
  const subscriptions = new Subscriptions({ all: never, get: never });
  for (const each of active) subscriptions.put(each);
  const outbox = new WebhookOutbox({ subscriptions, now, wake: (key) => void woken.push(key) });
  return { outbox, woken, subscriptions };
}

const entriesOf = (writes: readonly Write[]): Entry[] =>
  writes.map((write) => {
    assert.ok(write.kind === 'putEntry' && write.expectedVersion === null);
    return storedEntry(write.entry, 1);
  });

const sequences = (facts: Partial<RunFacts>, events: readonly StoredEvent[] = EVENTS): number[] =>
  entriesOf(outboxOf(subscription()).outbox.writes(runFacts(facts), events)).map(
    (entry) => toDelivery(entry).record.sequence,
  );

test('each event that matches is one delivery, due now, in order', () => {
  const { outbox } = outboxOf(subscription(), subscription({ id: 'wh_2', events: ['run.*'] }));
  const entries = entriesOf(outbox.writes(runFacts({ runId: 'run_1' }), EVENTS));
  assert.deepEqual(
    entries.map(({ ref, dueAt, tenant, kind }) => [ref, dueAt, tenant, kind]),
    [...Array(3).fill('wh_1'), 'wh_2', 'wh_2'].map((ref) => [ref, NOW, 'acme', 'delivery']),
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
  const { outbox, subscriptions } = outboxOf(subscription(), subscription({ tenant: 'other', id: 'wh_3' }));
  subscriptions.put(subscription({ state: 'failed' }));
  assert.deepEqual(outbox.writes(runFacts(), EVENTS), []);
  subscriptions.put(subscription());
  subscriptions.remove({ tenant: 'acme', ref: 'wh_1' });
  assert.deepEqual(outbox.writes(runFacts(), EVENTS), []);
});

test('a lane is woken by every commit until it has seen what was written for it', () => {
  const { outbox, woken } = outboxOf(subscription());
  outbox.committed();
  assert.deepEqual(woken, []);
  const deliveries = entriesOf(outbox.writes(runFacts(), EVENTS)).map(toDelivery);
  const key = { tenant: 'acme', ref: 'wh_1' };
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
  outbox.seen({ tenant: 'acme', ref: 'wh_1' }, [], NOW + 60_000);
  outbox.committed();
  assert.deepEqual(woken, []);
});

test('an event has one delivery id for each subscription, whoever tells of it and when', () => {
  const facts = runFacts();
  const hooks = [subscription(), subscription({ id: 'wh_2' })];
  const idsAt = (at: number) =>
    entriesOf(outboxAt(() => at, ...hooks).outbox.writes(facts, EVENTS)).map(({ id }) => id);
  assert.deepEqual(idsAt(NOW), idsAt(NOW + 86_400_000));
  assert.equal(new Set(idsAt(NOW)).size, 6);
  assert.deepEqual(idsAt(NOW).slice(0, 3), idsAt(NOW).slice(0, 3).sort(), 'in the order of the log');
  const other = EVENTS.map((event) => ({ ...event, type: `${event.type}.other` }));
  const others = entriesOf(outboxOf(...hooks).outbox.writes(facts, other)).map(({ id }) => id);
  assert.equal(new Set([...idsAt(NOW), ...others]).size, 12, 'what happened otherwise is another event');
});

test('a lane keeps the order of a run when the clock is set back', () => {
  let at = NOW;
  const { outbox } = outboxAt(() => at--, subscription());
  const times = entriesOf(outbox.writes(runFacts(), EVENTS)).map(({ createdAt }) => createdAt);
  assert.deepEqual(times, [NOW, NOW, NOW]);
});
