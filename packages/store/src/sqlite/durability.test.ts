import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { event, TENANT } from '../contract/fixtures.ts';
import { startChild } from '../testing/child.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openSqlite } from './open.ts';

const ROUNDS = 4;

test('I3: kill -9 at any moment loses nothing that was acknowledged, and leaves no gap', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await appendUntilKilled(t, folder.path, 1 + Math.floor(Math.random() * 60));
    const store = await openSqlite({ dataDir: folder.path });
    const loaded = await store.runs.load(TENANT, 'run-1');
    await store.close();
    assert.ok(loaded && loaded.row.nextSeq > acknowledged, `${loaded?.row.nextSeq} after ${acknowledged}`);
    assert.deepEqual(
      loaded.tail,
      Array.from({ length: loaded.row.nextSeq }, (_, sequence) => event(sequence)),
    );
  }
});

/** Kills once `count` appends were acknowledged, while others are in flight; answers the last one heard of. */
async function appendUntilKilled(t: TestContext, dataDir: string, count: number): Promise<number> {
  const child = startChild('appendForever', dataDir);
  t.after(child.kill);
  let last = -1;
  for (let i = 0; i < count; i++) last = Number(await child.next());
  await child.kill();
  for (let line = await child.next(); line !== ''; line = await child.next()) last = Number(line);
  assert.ok(last >= count, 'the child made progress');
  return last;
}
