/** A tenant listens to queues so often and no more, whoever asks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRIGGER_LIMITS, type WorkflowDefinition } from '@gantry/protocol';
import { openSqlite } from '@gantry/store';
import { assertError } from '../../api/testing/api-test.ts';
import { temporaryFolder } from '../../testing/host-process.ts';
import { noPacks } from '../../testing/no-packs.ts';
import { createWorkflows, SHARED } from '../../workflows/workflows.ts';
import { TRIGGER_LISTENER } from '../trigger.ts';
import { queueTest, seen, TENANT, URL } from './testing/queue-test.ts';

const LIMIT = TRIGGER_LIMITS.queuesPerTenantMax;

/** Listens to so many topics by itself. */
const ears = (id: string, count: number, version = '1.0.0'): WorkflowDefinition =>
  seen(id, {
    version,
    triggers: Array.from({ length: count }, (_, n) => ({
      id: `in-${n}`,
      type: 'event' as const,
      eventType: 'core.messaging.consume',
      config: { topic: `${id}-${n}` },
    })),
  });

const FULL = new RegExp(
  `have ${LIMIT} subscriptions to queues.*would make it ${LIMIT + 1}\\. Delete .* first`,
);
const one = { source: 'queue', workflowId: 'plain', topic: 'orders' };

test('definitions and subscriptions share the limit; who asks for less, or no more, is never refused', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('plain')] });
  await rig.registered(ears('many', LIMIT - 2));
  await rig.registered(ears('last', 1));
  const { subscription } = await rig.subscribe(one);
  const refused = await rig.register(ears('over', 1));
  assertError(refused, 409, 'conflict', { limit: LIMIT });
  assert.match(refused.json().message, FULL);
  assertError(await rig.get('/v1/workflows/over'), 404, 'not_found');
  const unheard = await rig.post(URL, one);
  assertError(unheard, 409, 'conflict', { limit: LIMIT });
  assert.match(unheard.json().message, FULL);
  assertError(await rig.register(ears('many', LIMIT - 1, '2.0.0')), 409, 'conflict');

  await rig.registered({ ...ears('many', LIMIT - 2, '2.0.0'), name: 'the same number' });
  await rig.registered(ears('many', LIMIT - 3, '3.0.0'));
  await rig.registered(ears('over', 1));
  assertError(await rig.post(URL, one), 409, 'conflict');
  await rig.request({ method: 'DELETE', url: `${URL}/${subscription.subscriptionId}` });
  await rig.subscribe(one);
  const off = { ...ears('silent', 5), isActive: false };
  await rig.registered(off);
});

test('of those who ask for the last place at once, one gets it', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('plain')] });
  await rig.registered(ears('many', LIMIT - 1));
  const names = ['a', 'b', 'c', 'd'];
  const answers = await Promise.all([
    ...names.map((id) => rig.register(ears(id, 1))),
    ...names.map(() => rig.post(URL, one)),
  ]);
  const codes = answers.map(({ statusCode }) => statusCode);
  assert.deepEqual(
    codes.toSorted(),
    [201, ...Array(7).fill(409)],
    answers.map(({ body }) => body).join('\n'),
  );
  const { store } = rig;
  assert.equal(await store.entries.count(TRIGGER_LISTENER, TENANT), LIMIT);
});

test('those who ask at once all get it while there is room, and other tenants have their own', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('plain')] });
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, (_, n) => rig.register(ears(`w${n}`, 2))),
    ...Array.from({ length: 10 }, () => rig.post(URL, one)),
  ]);
  for (const { statusCode, body } of answers) assert.equal(statusCode, 201, body);
  assert.equal(await rig.store.entries.count(TRIGGER_LISTENER, TENANT), 30);
});

test('what a process that died left unmade counts, and shared definitions count for the default tenant', async (t) => {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  // Nobody hears of registrations: their subscriptions are never made
  const workflows = createWorkflows({ store, packs: noPacks, now: Date.now, cacheMs: 0 });
  await workflows.register(SHARED, ears('shared', LIMIT - 10));
  await workflows.register(TENANT, ears('own', 10));
  assert.equal(await store.entries.count(TRIGGER_LISTENER, TENANT), 0);
  await assert.rejects(workflows.register(TENANT, ears('over', 1)), { code: 'conflict' });
  await assert.rejects(workflows.register(SHARED, ears('over', 1)), { code: 'conflict' });
  await workflows.register('globex', ears('over', 1));

  await workflows.register(TENANT, ears('shared', 5));
  await workflows.register(SHARED, ears('shared', LIMIT, '2.0.0'));
  await workflows.register(TENANT, ears('over', LIMIT - 15));
  await assert.rejects(workflows.register(TENANT, ears('more', 1)), { code: 'conflict' });
});

test('a repeat of a request whose answer was lost gets that answer: there is no secret to hide', async (t) => {
  const rig = await queueTest(t, { workflows: [seen('plain')] });
  const key = { 'idempotency-key': 'again' };
  const first = await rig.post(URL, one, key);
  const second = await rig.post(URL, one, key);
  assert.deepEqual([second.statusCode, second.json()], [201, first.json()]);
  const hook = { source: 'webhook', workflowId: 'plain' };
  const secret = { 'idempotency-key': 'secret' };
  assert.equal((await rig.post(URL, hook, secret)).statusCode, 201);
  assertError(await rig.post(URL, hook, secret), 409, 'conflict');
});
