import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { openPostgres } from '@gantry/store';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { assertError } from '../api/testing/api-test.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { echo, TENANT, type TriggersTest, triggersTest } from './testing/triggers-test.ts';

const OPEN = { source: 'webhook', workflowId: 'echo', verification: { mode: 'none' } };
const BODY = '{"issue":{"id":1}}';
const HOUR_MS = 3_600_000;
const full: Runtime['create'] = () => Promise.reject(new OpenwopError('service_unavailable'));

async function audit(rig: TriggersTest, subscriptionId: string) {
  const response = await rig.request(
    'GET',
    `/v1/host/gantry/trigger-subscriptions/${subscriptionId}/deliveries`,
  );
  return response.json();
}

const deadLetters = async (rig: TriggersTest) =>
  (await rig.request('GET', '/v1/host/gantry/dead-letters')).json().deadLetters;

test('a host that dies after its answer starts the run after the restart, once', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const dying = await triggersTest(t, {
    dataDir: folder.path,
    create: () => () => Promise.reject(new Error('killed')),
  });
  await dying.register(echo);
  const { binding } = await dying.subscribe(OPEN);
  const { deliveryId } = (await dying.send(binding.ingestUrl, BODY)).json();
  await dying.triggers.tick();
  await dying.stop();

  const next = await triggersTest(t, { dataDir: folder.path, clock: dying.clock });
  await next.triggers.start();
  await next.triggers.tick();
  await next.triggers.tick();
  const [runId, ...others] = await next.runIds();
  assert.deepEqual(others, []);
  assert.equal((await next.ended(runId!)).run.facts.triggerData?.deliveryId, deliveryId);
  const repeat = (await next.send(binding.ingestUrl, BODY)).json();
  assert.deepEqual(repeat, { deliveryId, duplicate: true, runId });
});

test('two hosts on one PostgreSQL database make one run of one event', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const clock = { at: Date.UTC(2026, 7, 1) };
  const host = async () => triggersTest(t, { store: await openPostgres({ url: database.url }), clock });
  const [one, two] = [await host(), await host()];
  t.after(() => database.drop());
  await one.register(echo);
  await one.triggers.start();
  await two.triggers.start();
  const { binding } = await one.subscribe(OPEN);
  const sent = await Promise.all([one, two, one, two].map((rig) => rig.send(binding.ingestUrl, BODY)));
  assert.equal(new Set(sent.map((response) => response.json().deliveryId)).size, 1);
  await Promise.all([one.triggers.tick(), two.triggers.tick()]);
  await Promise.all([one.triggers.tick(), two.triggers.tick()]);
  assert.equal((await one.runIds()).length, 1);
});

test('a host without room tries again; used-up attempts are a dead letter that can be retried', async (t) => {
  let hasRoom = false;
  const rig = await triggersTest(t, { create: () => (hasRoom ? undefined : full) });
  await rig.register(echo);
  const retryPolicy = { maxAttempts: 3, backoff: 'fixed' };
  const { subscription, binding } = await rig.subscribe({ ...OPEN, retryPolicy });
  const { deliveryId } = (await rig.send(binding.ingestUrl, BODY)).json();
  await rig.later(0);
  const [retrying] = (await audit(rig, subscription.subscriptionId)).deliveries;
  assert.deepEqual(
    [retrying.outcome, retrying.attempts, retrying.reason],
    ['retrying', 1, 'service_unavailable'],
  );
  await rig.later(12_000);
  await rig.later(12_000);
  const [dead] = (await audit(rig, subscription.subscriptionId)).deliveries;
  assert.deepEqual([dead.outcome, dead.attempts, dead.reason], ['dead-lettered', 3, 'retry-exhausted']);
  await rig.later(HOUR_MS);
  assert.deepEqual(await rig.runIds(), []);

  const [letter] = await deadLetters(rig);
  assert.deepEqual([letter.type, letter.deliveryId, letter.attempts], ['delivery', deliveryId, 3]);
  hasRoom = true;
  const retry = `/v1/host/gantry/dead-letters/${letter.deadLetterId}:retry`;
  assert.deepEqual((await rig.request('POST', retry, {})).json(), { type: 'delivery', deliveryId });
  assertError(await rig.request('POST', retry, {}), 404, 'not_found');
  await rig.later(0);
  const [runId] = await rig.runIds();
  assert.equal((await rig.ended(runId!)).run.facts.triggerData?.deliveryId, deliveryId);
  assert.deepEqual(await deadLetters(rig), []);
});

test('the log of a run tells every attempt of the delivery that it follows from', async (t) => {
  let hasRoom = false;
  const rig = await triggersTest(t, { create: () => (hasRoom ? undefined : full) });
  await rig.register(echo);
  const { binding } = await rig.subscribe({ ...OPEN, retryPolicy: { maxAttempts: 3, backoff: 'fixed' } });
  await rig.send(binding.ingestUrl, BODY);
  await rig.later(0);
  hasRoom = true;
  await rig.later(12_000);
  const [runId] = await rig.runIds();
  const [started, ...attempts] = await rig.store.runs.events(TENANT, runId!, 0, 3);
  assert.equal(started!.causationId, `${runId}.2`, 'the one that succeeded');
  assert.deepEqual(
    attempts.map(({ type, payload }) => {
      const { attempt, outcome, runId } = JSON.parse(payload);
      return [type, attempt, outcome, runId];
    }),
    [
      ['trigger.delivery.attempted', 1, 'retrying', undefined],
      ['trigger.delivery.attempted', 2, 'delivered', runId],
    ],
  );
});

test('an event whose start fails unexpectedly holds up no other, and is tried again', async (t) => {
  let isBroken = true;
  const create: Runtime['create'] = (run, ...rest) =>
    isBroken && JSON.stringify(run.triggerData).includes('"body":1')
      ? Promise.reject(new Error('the disk is full'))
      : rig.runtime.create(run, ...rest);
  const rig: TriggersTest = await triggersTest(t, { create: () => create });
  await rig.register(echo);
  const { binding } = await rig.subscribe(OPEN);
  for (const event of ['1', '2', '3']) await rig.send(binding.ingestUrl, event);
  await rig.triggers.tick();
  assert.equal((await rig.runIds()).length, 2);
  isBroken = false;
  await rig.later(1_000);
  assert.equal((await rig.runIds()).length, 3);
});

test('a subscription that keeps failing is switched off, and on again by people', async (t) => {
  let hasRoom = false;
  const rig = await triggersTest(t, { create: () => (hasRoom ? undefined : full) });
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe({ ...OPEN, retryPolicy: { maxAttempts: 1 } });
  for (let i = 0; i < 5; i++) {
    await rig.send(binding.ingestUrl, String(i));
    await rig.later(1_000);
  }
  assertError(await rig.send(binding.ingestUrl, '"6"'), 409, 'conflict', { state: 'failed' });
  const { stateChanges } = await audit(rig, subscription.subscriptionId);
  const { fromState, toState, reason } = stateChanges[0];
  assert.deepEqual([fromState, toState, reason], ['active', 'failed', 'retry-exhausted']);
  hasRoom = true;
  const resume = `/v1/host/gantry/trigger-subscriptions/${subscription.subscriptionId}:resume`;
  assert.equal((await rig.request('POST', resume, {})).json().state, 'active');
  assert.equal((await rig.send(binding.ingestUrl, '"7"')).statusCode, 202);
});

test('one success ends the count of failures', async (t) => {
  let hasRoom = false;
  const rig = await triggersTest(t, { create: () => (hasRoom ? undefined : full) });
  await rig.register(echo);
  const { binding } = await rig.subscribe({ ...OPEN, retryPolicy: { maxAttempts: 1 } });
  for (let i = 0; i < 8; i++) {
    hasRoom = i === 4;
    assert.equal((await rig.send(binding.ingestUrl, String(i))).statusCode, 202);
    await rig.later(1_000);
  }
  assert.equal((await rig.runIds()).length, 1);
});

test('a pause holds what was taken, and refuses what comes', async (t) => {
  let isStalled = true;
  const stalled: Runtime['create'] = () => Promise.reject(new OpenwopError('service_unavailable'));
  const rig = await triggersTest(t, { create: () => (isStalled ? stalled : undefined) });
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe(OPEN);
  await rig.send(binding.ingestUrl, BODY);
  await rig.later(0);
  isStalled = false;
  const verbs = `/v1/host/gantry/trigger-subscriptions/${subscription.subscriptionId}`;
  assert.equal((await rig.request('POST', `${verbs}:pause`, {})).json().state, 'paused');
  assertError(await rig.send(binding.ingestUrl, '"late"'), 409, 'conflict', { state: 'paused' });
  await rig.later(HOUR_MS);
  assert.deepEqual(await rig.runIds(), []);
  await rig.request('POST', `${verbs}:resume`, {});
  await rig.later(0);
  assert.equal((await rig.runIds()).length, 1);
});

test('what can never become a run is dead at once', async (t) => {
  const rig = await triggersTest(t);
  await rig.register(
    workflow('strict', [node('a', 'core.noop')], { variables: [{ name: 'n', type: 'number' }] }),
  );
  const { binding } = await rig.subscribe({
    ...OPEN,
    workflowId: 'strict',
    inputMapping: { n: 'webhook.body' },
  });
  await rig.send(binding.ingestUrl, '"text"');
  await rig.later(0);
  const [letter] = await deadLetters(rig);
  assert.deepEqual([letter.reason, letter.attempts], ['validation_error', 1]);
});

test('what waits for a subscription that is gone becomes a dead letter', async (t) => {
  const rig = await triggersTest(t, { create: () => full });
  await rig.register(echo);
  const { subscription, binding } = await rig.subscribe(OPEN);
  await rig.send(binding.ingestUrl, BODY);
  await rig.later(0);
  const removed = await rig.request('DELETE', `/v1/trigger-subscriptions/${subscription.subscriptionId}`);
  assert.equal(removed.statusCode, 204);
  assertError(await rig.send(binding.ingestUrl, BODY), 404, 'not_found');
  await rig.later(HOUR_MS);
  const [letter] = await deadLetters(rig);
  assert.equal(letter.reason, 'source-removed');
  const retry = await rig.request('POST', `/v1/host/gantry/dead-letters/${letter.deadLetterId}:retry`, {});
  assertError(retry, 409, 'conflict', { state: 'removed' });
});
