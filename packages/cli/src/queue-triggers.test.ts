import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Json } from '@gantry/protocol';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { publish } from '../../host/src/triggers/queue-source/testing/queue-test.ts';
import { LOCAL_RECEIVERS, receiver } from '../../host/src/webhooks/testing/receiver.ts';
import { realHost, type Said } from './testing/real-host.ts';
import { cli, startTestHost } from './testing/test-host.ts';

const SHIP = workflow('ship', [node('a', 'core.noop')], {
  variables: [{ name: 'order', type: 'number', required: true }],
});
const MAPPED = ['--map', 'order=payload.id'];

function ok(said: Said): string {
  assert.equal(said.code, 0, said.err);
  return said.out;
}

/** A host that tells of the runs that ended. */
async function listeningHost(t: TestContext) {
  const host = await realHost(t, [SHIP], { settings: { egressAllow: LOCAL_RECEIVERS } });
  const target = await receiver(t);
  await host.client.webhooks.register({ url: target.url, events: ['run.completed'] });
  return {
    ...host,
    publish: (topic: string, payload: Json) => publish(host.services.surfaces.queue, topic, payload),
    ended: (count: number) => target.got(count),
  };
}

const added = (said: Said): string =>
  /^(\S+) active, listens to orders\nWatch it: gantry triggers show \1\n$/.exec(ok(said))?.[1] ??
  assert.fail(said.out);

test('a message of the topic starts a run; the trigger is listed, shown, paused and removed', async (t) => {
  const host = await listeningHost(t);
  const id = added(await host.gantry('triggers', 'add', 'ship', '--topic', 'orders', ...MAPPED));
  assert.match(
    ok(await host.gantry('triggers')),
    new RegExp(`\n${id} +queue +active +ship +orders +- +none\n`),
  );
  const [listed] = JSON.parse(ok(await host.gantry('triggers', '--json')));
  assert.deepEqual([listed.workflowId, listed.topic, listed.consumerGroup], ['ship', 'orders', id]);
  const purpose = 'Starts ship with each message of orders.\n';
  const fresh = ok(await host.gantry('triggers', 'show', id));
  assert.equal(fresh, `${purpose}${id} queue active\nNo deliveries yet.\n`);

  await host.publish('orders', { id: 'not a number' });
  await host.publish('orders', { id: 7 });
  await host.ended(1);
  // Comes after what was handed over together with the first
  await host.publish('orders', { id: 8 });
  await host.ended(2);
  const shown = ok(await host.gantry('triggers', 'show', id));
  const [run] = (await host.client.runs.list({ workflowId: 'ship' })).runs;
  assert.match(
    shown,
    new RegExp(`^${purpose}${id} queue active\nFailed to start a run: 1\\. .*gantry dead-letters\nDELIVERY `),
  );
  assert.match(shown, new RegExp(` delivered +1 .* ${run?.runId} `));
  assert.match(shown, / dead-lettered +1 .* validation_error\n/);

  const page = JSON.parse(ok(await host.gantry('triggers', 'show', id, '--json')));
  assert.deepEqual([page.subscription.subscriptionId, page.deliveries.length], [id, 3]);
  assert.equal(ok(await host.gantry('triggers', 'pause', id)), `${id} paused\n`);
  const paused = ok(await host.gantry('triggers', 'show', id));
  assert.match(
    paused,
    /^Starts .*\n\S+ queue paused, since .* ago \(operator-paused\)\n.*gantry triggers resume sub_/,
  );
  assert.equal(ok(await host.gantry('triggers', 'rm', id)), `${id} removed\n`);
  const gone = await host.gantry('triggers', 'show', id);
  assert.deepEqual([gone.code, gone.out], [2, '']);
  assert.match(gone.err, /no trigger with this id/);
});

test('more deliveries than are shown are asked for page by page', async (t) => {
  const host = await listeningHost(t);
  const made = ok(await host.gantry('triggers', 'add', 'ship', '--topic', 'orders', ...MAPPED, '--json'));
  const { subscription, binding } = JSON.parse(made);
  const id = subscription.subscriptionId;
  assert.deepEqual(binding, { topic: 'orders', consumerGroup: id });
  for (let n = 0; n < 6; n++) await host.publish('orders', { id: n });
  await host.ended(6);
  const shown = ok(await host.gantry('triggers', 'show', id));
  assert.equal(shown.match(/ delivered /g)?.length, 5);
  assert.ok(shown.endsWith(`\nMore: gantry triggers deliveries ${id}\n`), shown);
  const first = ok(await host.gantry('triggers', 'deliveries', id, '--limit', '4'));
  const before = /More: gantry triggers deliveries \S+ --before (\S+)\n$/.exec(first)?.[1] ?? '';
  const second = ok(await host.gantry('triggers', 'deliveries', id, '--before', before));
  assert.equal(second.match(/ delivered /g)?.length, 2);
});

test('triggers of one group share the messages of their topic', async (t) => {
  const host = await listeningHost(t);
  const group = ['--source', 'queue', '--topic', 'orders', '--group', 'workers', ...MAPPED];
  const said = ok(await host.gantry('triggers', 'add', 'ship', ...group));
  assert.match(said, /^\S+ active, listens to orders in group workers\n/);
  ok(await host.gantry('triggers', 'add', 'ship', ...group));
  ok(await host.gantry('triggers', 'add', 'ship', '--topic', 'orders', ...MAPPED));
  await host.publish('orders', { id: 1 });
  await host.ended(2);
  const ids = (await host.client.triggers.list()).map(({ subscriptionId }) => subscriptionId);
  const counts = ids.map(async (id) => (await host.client.triggers.deliveries(id)).deliveries.length);
  assert.deepEqual((await Promise.all(counts)).sort(), [0, 1, 1]);
  const listed = ok(await host.gantry('triggers'));
  assert.equal(listed.match(/ queue +active +ship +orders +workers +none\n/g)?.length, 2, listed);
  const shared = /^(\S+) .* workers /m.exec(listed)?.[1] ?? '';
  const shown = ok(await host.gantry('triggers', 'show', shared));
  assert.ok(shown.startsWith('Starts ship with each message of orders, in group workers.\n'), shown);
});

test('what cannot be listened to is refused, with what to do', async (t) => {
  const host = await realHost(t, [SHIP]);
  const cases: [string[], RegExp][] = [
    [['ship', '--source', 'queue'], /needs --topic NAME/],
    [['ship', '--source', 'webhook', '--topic', 'orders'], /--topic is for queues: use --source queue/],
    [['ship', '--group', 'workers'], /--group is for queues/],
    [['ship', '--topic', 'orders', '--verify', 'none'], /--verify does not apply to queues/],
    [['ship', '--source', 'queues'], /Did you mean queue\?/],
    [['ship', '--topic', 'orders'], /No event could start the workflow: .*order/],
    [['nobody', '--topic', 'orders'], /There is no such workflow/],
    [['ship', '--topic', 'é'.repeat(150), ...MAPPED], /300 bytes, and may have 200/],
  ];
  for (const [args, message] of cases) {
    const done = await host.gantry('triggers', 'add', ...args);
    assert.deepEqual([done.code, done.out], [2, ''], args.join(' '));
    assert.match(done.err, message);
  }
  assert.match(ok(await host.gantry('triggers')), /^No triggers yet/);
});

test('a process without a terminal says that the queue is away, and that events wait', async (t) => {
  const subscription = { subscriptionId: 's', source: 'queue', state: 'active', dedupEnabled: true };
  const times = { receivedAt: new Date().toISOString() };
  const waiting = {
    deliveryId: 'd',
    subscriptionId: 's',
    state: 'pending',
    attempts: 1,
    reason: 'a\u001b[2Jb',
  };
  const problem = 'PostgreSQL at queue.example:5432 does not answer.\u0007';
  const deliveries = [{ ...waiting, ...times, verified: false }];
  const page = { workflowId: 'ship', topic: 'orders', deliveries, stateChanges: [], problem };
  const host = await startTestHost(t, {
    'GET /v1/trigger-subscriptions/s': { status: 200, body: subscription },
    'GET /v1/host/gantry/trigger-subscriptions': { status: 200, body: { subscriptions: [] } },
    'GET /v1/host/gantry/trigger-subscriptions/s/deliveries': { status: 200, body: page },
  });
  const [shown, listed] = await Promise.all([
    cli(host, 'triggers', 'show', 's'),
    cli(host, 'triggers', 'deliveries', 's'),
  ]);
  assert.equal(shown.code, 0, shown.stderr);
  const said = 'Problem: PostgreSQL at queue.example:5432 does not answer. \n';
  assert.ok(shown.stdout.includes(`\ns queue active\n${said}Waiting for a run: 1\nDELIVERY`), shown.stdout);
  assert.ok(listed.stdout.endsWith(said), listed.stdout);
  assert.ok(!shown.stdout.includes('\u001b'));
});
