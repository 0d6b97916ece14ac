/** A lease that ran out (the database was away, the machine slept) is no reason to end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPostgres } from '@gantry/store';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { apiTest } from './api/testing.ts';

test('a host whose lease ran out renews it, and goes on', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const store = await openPostgres({ url: database.url });
  let sleptMs = 0;
  const { promise: renewed, resolve } = Promise.withResolvers<boolean>();
  const renew: typeof store.leases.renew = async (...terms) => {
    const isRenewed = await store.leases.renew(...terms);
    if (sleptMs > 0) resolve(isRenewed);
    return isRenewed;
  };
  const host = await apiTest(t, {
    store: { ...store, leases: { ...store.leases, renew } },
    now: () => Date.now() + sleptMs,
    lease: { ttlMs: 15_000, renewEveryMs: 100 },
    settings: { databaseUrl: database.url, masterKey: 'b'.repeat(64) },
  });
  t.after(database.drop);
  sleptMs = 3_600_000;
  assert.equal(await renewed, true);
  assert.equal((await host.ended(await host.start('three'))).status, 'completed');
});
