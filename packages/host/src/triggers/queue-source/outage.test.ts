/** A queue on a server that goes away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openGate } from '../../../../surfaces/src/testing/gate.ts';
import { openTestPostgres, postgresSkip } from '../../../../surfaces/src/testing/postgres.ts';
import { queueTest, seen } from './testing/queue-test.ts';

test('a subscription says that its queue is away, and goes on when it is back', {
  skip: postgresSkip,
}, async (t) => {
  const server = await openTestPostgres();
  const url = new URL(server.url);
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  url.port = String(gate.port);
  const rig = await queueTest(t, { workflows: [seen('heard')], settings: { backends: { queue: url.href } } });
  t.after(() => Promise.all([gate.close(), server.close()]));
  const { subscription } = await rig.subscribe({ source: 'queue', workflowId: 'heard', topic: 'in' });
  await rig.publish('in', 1);
  await rig.outputs('heard', 1);

  await gate.shut();
  const away = await rig.deliveriesOf(subscription.subscriptionId);
  assert.match(away.problem ?? '', new RegExp(`PostgreSQL at .*:${gate.port} `));
  await gate.reopen();
  await rig.publish('in', 2);
  assert.deepEqual((await rig.outputs('heard', 2))[1], { input: 2 });
  assert.equal((await rig.deliveriesOf(subscription.subscriptionId)).problem, undefined);
});
