import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, putEntry, win } from '../contract/fixtures.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openSqlite } from './open.ts';

test('nobody shares the folder, so a watcher is never called', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const store = await openSqlite({ dataDir: folder.path });
  let calls = 0;
  const stop = await store.watch(() => calls++);
  await win(store, create('run-1'), putEntry('e', null));
  await stop();
  await store.close();
  assert.equal(calls, 0);
});
