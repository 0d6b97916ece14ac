import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absentServer, openWorld } from '../../testing/absent-server.ts';
import { freshTenant, write } from '../../testing/calls.ts';
import { openTestPostgres, postgresSkip } from '../../testing/postgres.ts';

test('PostgreSQL: a subscription hears its first message when the server has come', {
  skip: postgresSkip,
}, async (t) => {
  const { url, close } = await openTestPostgres();
  const server = await absentServer(url);
  const { opened, told } = await openWorld(t, { queue: server.url }, server);
  t.after(close);
  const tenant = freshTenant();
  const { promise: heard, resolve } = Promise.withResolvers<unknown>();
  const subscription = opened.queue.subscribe({ tenant, topic: 't', group: '' }, async ({ payload }) =>
    resolve(payload),
  );
  await assert.rejects(opened.queue.health(), { code: 'queue_backend_unavailable' });
  await server.appear();
  await opened.queue.publish(
    { topic: 't', payload: 'first', headers: {}, delayMs: 0 },
    write(tenant, { now: Date.now() }),
  );
  assert.equal(await heard, 'first');
  assert.equal(told.length, 1, 'attempts are not told one by one');
  await subscription.close();
});
