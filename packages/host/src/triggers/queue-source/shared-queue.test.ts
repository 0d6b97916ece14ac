/** Several hosts on one database and one queue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPostgres } from '@gantry/store';
import { freshDatabase } from '../../../../store/src/testing/postgres-server.ts';
import { HOST_URL, queueTest, seen } from './testing/queue-test.ts';

test('two hosts share the messages of a subscription, and a pause through one holds both', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const settings = {
    databaseUrl: database.url,
    masterKey: 'one-key-for-every-process-of-this-database',
    backends: { queue: database.url },
  };
  const host = async () => queueTest(t, { settings, store: await openPostgres({ url: database.url }) });
  const [one, two] = [await host(), await host()];
  // After the hosts, which end in the order in which they began
  t.after(() => database.drop());
  await one.registered(seen('heard'));
  const { subscription } = await one.subscribe({ source: 'queue', workflowId: 'heard', topic: 'in' });
  await Promise.all(Array.from({ length: 20 }, (_, n) => [one, two][n % 2]!.publish('in', n)));
  const settled = async (): Promise<number> => {
    const { deliveries } = await one.deliveriesOf(subscription.subscriptionId);
    return deliveries.filter(({ state }) => state === 'delivered').length;
  };
  const until = async (count: number): Promise<void> => {
    for (;;) {
      const later = Promise.race([one.next(), two.next()]);
      if ((await settled()) >= count) return;
      await later;
    }
  };
  await until(20);
  assert.equal((await one.runIds('heard')).length, 20);

  await two.post(`${HOST_URL}/${subscription.subscriptionId}:pause`, {});
  for (let n = 0; n < 5; n++) await one.publish('in', 20 + n);
  assert.equal((await one.runIds('heard')).length, 20);
  await one.post(`${HOST_URL}/${subscription.subscriptionId}:resume`, {});
  await until(25);
  assert.equal((await one.runIds('heard')).length, 25);
});
