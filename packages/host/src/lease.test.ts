/** A lease that ran out (the database was away, the machine slept) is no reason to end; one that is gone is. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { openPostgres, type Store } from '@gantry/store';
import { administer, freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { type ApiTest, apiTest } from './api/testing/api-test.ts';
import { startHostProcess, temporaryFolder } from './testing/host-process.ts';

interface Leased {
  readonly host: ApiTest;
  /** Moves its clock forward. */
  sleep(ms: number): void;
}

/** A host on a database of its own, whose renewals go by `renewal`; null when there is no PostgreSQL here. */
async function leased(
  t: TestContext,
  renewal: (renew: () => Promise<boolean>) => Promise<boolean>,
  release = async (): Promise<void> => {},
): Promise<Leased | null> {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return null;
  }
  const store = await openPostgres({ url: database.url });
  let sleptMs = 0;
  const leases: Store['leases'] = {
    ...store.leases,
    renew: (...terms) => renewal(() => store.leases.renew(...terms)),
    release: async (epoch) => {
      await store.leases.release(epoch);
      await release();
    },
  };
  const host = await apiTest(t, {
    store: { ...store, leases },
    now: () => Date.now() + sleptMs,
    lease: { ttlMs: 15_000, renewEveryMs: 100 },
    settings: { databaseUrl: database.url, masterKey: 'b'.repeat(64) },
  });
  t.after(database.drop);
  return {
    host,
    sleep: (ms) => {
      sleptMs += ms;
    },
  };
}

test('a host whose lease ran out renews it, and goes on', async (t) => {
  const { promise: renewed, resolve } = Promise.withResolvers<boolean>();
  let hasSlept = false;
  const found = await leased(t, async (renew) => {
    const isRenewed = await renew();
    if (hasSlept) resolve(isRenewed);
    return isRenewed;
  });
  if (!found) return;
  const { host, sleep } = found;
  sleep(3_600_000);
  hasSlept = true;
  assert.equal(await renewed, true);
  assert.equal((await host.ended(await host.start('three'))).status, 'completed');
});

test('a renewal that a stop overtakes is no failure', async (t) => {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<boolean>();
  const renewal = async (renew: () => Promise<boolean>): Promise<boolean> => {
    begun.resolve();
    await released.promise;
    const isRenewed = await renew();
    answered.resolve(isRenewed);
    return isRenewed;
  };
  const found = await leased(t, renewal, async () => {
    released.resolve();
    await answered.promise;
  });
  if (!found) return;
  const { host } = found.host;
  await begun.promise;
  await host.stop();
  assert.equal(await answered.promise, false);
  assert.equal(await Promise.race([host.failed, 'stopped']), 'stopped');
});

test('a host whose lease is gone says so and ends', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) return t.skip(database.skip);
  const folder = await temporaryFolder();
  const host = await startHostProcess({
    dataDir: `${folder.path}/data`,
    workflowsDir: folder.path,
    env: { GANTRY_DATABASE_URL: database.url, GANTRY_MASTER_KEY: 'b'.repeat(64) },
  });
  t.after(async () => {
    await host.kill();
    await database.drop();
    await folder.remove();
  });
  const printed: string[] = [];
  host.child.stderr!.on('data', (part) => printed.push(String(part)));
  const ended = once(host.child, 'close');
  await administer(database.url, 'delete from leases');
  assert.deepEqual(await ended, [1, null]);
  assert.equal(
    printed.join(''),
    'gantry: the lease of this process is no longer in the database; stopping\n',
  );
});
