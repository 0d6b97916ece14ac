import assert from 'node:assert/strict';
import { EventEmitter, on } from 'node:events';
import { after, before, describe, test } from 'node:test';
import postgres from 'postgres';
import {
  append,
  create,
  deleteEntry,
  head,
  idempotency,
  putEntry,
  TENANT,
  win,
} from '../contract/fixtures.ts';
import type { RunKey, Store, StoreChange } from '../port.ts';
import { openProxy } from '../testing/postgres-proxy.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { CHANNEL } from './notices.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;
const url = 'url' in database ? database.url : '';

const run = (runId: string): RunKey => ({ tenant: TENANT, runId });
const MISSED: StoreChange = { runs: [], kinds: [], missed: true };

interface Watching {
  next(): Promise<StoreChange>;
  stop(): Promise<void>;
}

async function watching(store: Store): Promise<Watching> {
  const emitter = new EventEmitter();
  const changes = on(emitter, 'change');
  const stop = await store.watch((change) => emitter.emit('change', change));
  return { next: async () => (await changes.next()).value?.[0], stop };
}

describe('watching a shared database', { skip }, () => {
  let here: Store;
  let there: Store;
  before(async () => {
    [here, there] = await Promise.all([openPostgres({ url }), openPostgres({ url })]);
  });
  after(async () => {
    await Promise.all([here.close(), there.close()]);
    if ('drop' in database) await database.drop();
  });

  test('a commit is heard by other processes, not by its own', async () => {
    const watcher = await watching(here);
    await win(here, create('mine'), putEntry('mine', null, { kind: 'webhook' }));
    await win(there, create('a'), append('a', 1), create('b'), putEntry('e', null), putEntry('f', null));
    assert.deepEqual(await watcher.next(), { runs: [run('a'), run('b')], kinds: ['mail'] });
    await win(there, append('a', 2), deleteEntry('e', 1));
    assert.deepEqual(await watcher.next(), { runs: [run('a')], kinds: ['mail'] });
    await watcher.stop();
  });

  test('what lost, and what wrote neither events nor entries, is not announced', async () => {
    const watcher = await watching(here);
    await win(there, create('c'));
    assert.deepEqual(await watcher.next(), { runs: [run('c')], kinds: [] });
    await win(there, idempotency('key'), append('c', 1, { events: [], head: head({ wakeAt: 9 }) }));
    const results = await there.commit([[create('d'), append('c', 7)], [append('c', 1)]]);
    assert.deepEqual(
      results.map((result) => result.won),
      [false, true],
    );
    assert.deepEqual(await watcher.next(), { runs: [run('c')], kinds: [] });
    await watcher.stop();
  });

  test('a commit of many runs comes in several changes that name each once', async () => {
    const watcher = await watching(here);
    const runIds = Array.from({ length: 120 }, (_, i) => `${'long-'.repeat(40)}${i}`);
    await there.commit(runIds.map((runId) => [create(runId), putEntry(runId, null, { kind: 'schedule' })]));
    const heard: StoreChange[] = [];
    while (!heard.at(-1)?.kinds.includes('schedule')) heard.push(await watcher.next());
    assert.ok(heard.length > 1);
    const named = heard.flatMap((change) => change.runs.map((key) => key.runId));
    assert.deepEqual(named, runIds);
    await watcher.stop();
  });

  test('after a lost connection watchers are told to look at everything, and hear again', async () => {
    const [stopped, watcher] = [await watching(here), await watching(here)];
    await stopped.stop();
    await there.watch(() => {});
    const sql = postgres(url, { max: 1 });
    const ended = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query = ${`listen "${CHANNEL}"`}
    `;
    await sql.end();
    assert.equal(ended.length, 2);
    assert.deepEqual(await watcher.next(), MISSED);
    await win(there, putEntry('again', null));
    assert.deepEqual(await watcher.next(), { runs: [], kinds: ['mail'] });
    await watcher.stop();
  });

  test('a notice that could not be sent becomes a call to look at everything', async () => {
    const proxy = await openProxy(url);
    const sender = await openPostgres({ url: proxy.url });
    const watcher = await watching(here);
    const failed = proxy.failAt(/pg_notify/, 'cut-before');
    await win(sender, create('unheard'));
    await failed;
    assert.deepEqual(await watcher.next(), MISSED);
    await win(sender, create('heard'));
    assert.deepEqual(await watcher.next(), { runs: [run('heard')], kinds: [] });
    await Promise.all([watcher.stop(), sender.close()]);
    await proxy.close();
  });

  test('a connection that has fallen silent is replaced when it does not bring a renewal', async () => {
    const proxy = await openProxy(url);
    const listener = await openPostgres({ url: proxy.url });
    const epoch = await listener.leases.acquire('listener', 0, 1_000);
    const watcher = await watching(listener);
    assert.equal(proxy.silence(/^listen/), 1);
    await win(here, create('not-heard'));
    for (let renewals = 0; renewals < 2; renewals++)
      assert.equal(await listener.leases.renew(epoch, 0, 1_000), true);
    assert.deepEqual(await watcher.next(), MISSED);
    await Promise.all([watcher.stop(), listener.close()]);
    await proxy.close();
  });

  test('several watchers hear each change; one that stopped hears no more', async () => {
    const [first, second] = [await watching(here), await watching(here)];
    await win(there, create('g'));
    assert.deepEqual(await first.next(), await second.next());
    let late = 0;
    const stop = await here.watch(() => late++);
    await stop();
    await win(there, create('h'));
    assert.deepEqual(await first.next(), { runs: [run('h')], kinds: [] });
    assert.equal(late, 0);
    await Promise.all([first.stop(), second.stop()]);
  });
});
