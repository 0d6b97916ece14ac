import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { CommitPipeline } from '../commit-pipeline.ts';
import { create, idempotency, putEntry, TENANT, win } from '../contract/fixtures.ts';
import { StoreError } from '../error.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;
const url = 'url' in database ? database.url : '';

test('an unreachable server is an io error that names host and port, never the password', async () => {
  const opening = openPostgres({ url: 'postgres://gantry:open-sesame@127.0.0.1:1/gantry' });
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof StoreError);
    assert.equal(error.code, 'io');
    assert.match(
      error.message,
      /^GANTRY_DATABASE_URL: PostgreSQL at 127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\)/,
    );
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
});

test('a URL that is none is told with the setting, and nothing of it is repeated', async () => {
  for (const url of ['postgres://u:12#open-sesame@db/x', 'postgres://u:open-sesame@a,b/x'])
    await assert.rejects(openPostgres({ url }), (error) => {
      assert.ok(error instanceof StoreError);
      assert.match(error.message, /^GANTRY_DATABASE_URL: Th(?:is is no URL|e URL names several hosts)/);
      assert.doesNotMatch(error.message, /open-sesame/);
      return true;
    });
});

describe('a PostgreSQL database', { skip }, () => {
  after(async () => {
    if ('drop' in database) await database.drop();
  });

  test('a wrong password is an io error that does not repeat it', async () => {
    const wrong = new URL(url);
    wrong.password = 'open-sesame';
    await assert.rejects(openPostgres({ url: wrong.href }), (error) => {
      assert.ok(error instanceof StoreError);
      assert.equal(error.code, 'io');
      assert.doesNotMatch(error.message, /open-sesame/);
      return true;
    });
  });

  test('several processes may start at once; each sees what the others commit', async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgres({ url })));
    const [first, second] = stores;
    assert.ok(first && second);
    await win(first, create('shared'));
    assert.equal((await second.runs.row(TENANT, 'shared'))?.runId, 'shared');
    await Promise.all(stores.map((store) => store.close()));
  });

  test('leases of several processes live side by side until they expire', async () => {
    const store = await openPostgres({ url });
    const first = await store.leases.acquire('p1', 0, 1_000);
    const second = await store.leases.acquire('p2', 0, 1_000);
    await win(store, create('leased', { head: { owner: first } }));
    assert.equal(await store.leases.renew(first, 500, 1_000), true);
    assert.deepEqual(await store.leases.claimOrphans(second, 1_200, 10), []);
    assert.deepEqual(await store.leases.claimOrphans(second, 1_500, 10), [
      { tenant: TENANT, runId: 'leased' },
    ]);
    assert.equal(await store.leases.renew(first, 1_500, 1_000), true, 'for the runs that nobody took');
    assert.equal((await store.runs.row(TENANT, 'leased'))?.owner, second);
    await store.close();
  });

  test('a group that the server rejects fails alone', async () => {
    const store = await openPostgres({ url });
    const pipeline = new CommitPipeline(store);
    const key = Array.from({ length: 500 }, () => randomUUID()).join('');
    const settled = await Promise.allSettled([
      pipeline.commit([create('good')]),
      pipeline.commit([create('bad'), idempotency(key)]),
      pipeline.commit([putEntry('good', null)]),
    ]);
    assert.deepEqual(
      settled.map((each) => (each.status === 'fulfilled' ? each.value.won : each.reason.code)),
      [true, 'rejected', true],
    );
    assert.equal(await store.runs.row(TENANT, 'bad'), null);
    await store.close();
  });
});
