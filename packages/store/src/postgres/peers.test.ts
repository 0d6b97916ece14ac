/** Leases that end before their time because the process of them has. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { create, win } from '../contract/fixtures.ts';
import type { StoreChange } from '../port.ts';
import { openProxy } from '../testing/postgres-proxy.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;
const url = 'url' in database ? database.url : '';
after(() => 'drop' in database && database.drop());

const TTL_MS = 6_000;

/** A process with a lease and a run of its own; another that renews its lease, late enough for the first to be late. */
async function pair(t: TestContext, thereUrl = url) {
  const [here, there] = await Promise.all([openPostgres({ url }), openPostgres({ url: thereUrl })]);
  t.after(() => Promise.all([here.close(), there.close()]));
  const now = here.now!();
  const epoch = await here.leases.acquire('here', now, TTL_MS);
  const owner = await there.leases.acquire('there', now, TTL_MS);
  const runId = `of-${owner}`;
  await win(there, create(runId, { head: { owner } }));
  const laterMs = now + TTL_MS / 2;
  const takeOver = async (): Promise<string[]> => {
    assert.equal(await here.leases.renew(epoch, laterMs, TTL_MS), true);
    return (await here.leases.claimOrphans(epoch, laterMs, 10)).map((key) => key.runId);
  };
  return { here, there, runId, takeOver };
}

test('runs of a process that is gone are claimed before its lease ends, and watchers look again', {
  skip,
}, async (t) => {
  const { here, there, runId, takeOver } = await pair(t);
  const heard: StoreChange[] = [];
  await here.watch((change) => heard.push(change));
  assert.deepEqual(await takeOver(), []);
  await there.close();
  assert.deepEqual(await takeOver(), [runId]);
  assert.ok(heard.some((change) => change.missed));
});

test('a process that lost its connections and has them again keeps its runs', { skip }, async (t) => {
  const proxy = await openProxy(url);
  t.after(() => proxy.close());
  const { runId, takeOver } = await pair(t, proxy.url);
  proxy.cut();
  assert.ok(!(await takeOver()).includes(runId));
});
