import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '../error.ts';
import { startChild } from '../testing/child.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openSqlite } from './open.ts';

const isLocked = (folder: string, pid: number | undefined) => (error: unknown) =>
  error instanceof StoreError &&
  error.code === 'locked' &&
  error.message.includes(folder) &&
  error.message.includes(`process ${pid}`);

test('a folder in use by another process is refused at once; kill -9 of that process frees it', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const child = startChild('open', folder.path);
  t.after(child.kill);
  assert.equal(await child.next(), 'opened');
  await assert.rejects(openSqlite({ dataDir: folder.path }), isLocked(folder.path, child.process.pid));
  await child.kill();
  const store = await openSqlite({ dataDir: folder.path });
  await store.close();
});

test('a folder in use by this process is refused, stays locked for others, and is free after close', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const store = await openSqlite({ dataDir: folder.path });
  await assert.rejects(openSqlite({ dataDir: folder.path }), isLocked(folder.path, process.pid));
  const refused = startChild('open', folder.path);
  t.after(refused.kill);
  assert.match(await refused.next(), /^locked: /);
  await refused.end();
  await store.close();
  const second = await openSqlite({ dataDir: folder.path });
  await second.close();
});

test('a new lease ends the one of the process before', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const store = await openSqlite({ dataDir: folder.path });
  t.after(() => store.close());
  const old = await store.leases.acquire('p1', 0, 1_000);
  await store.leases.acquire('p2', 1, 1_000);
  assert.equal(await store.leases.renew(old, 2, 1_000), false);
});
