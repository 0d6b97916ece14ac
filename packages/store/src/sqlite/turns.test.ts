import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshFolder } from '../testing/data-dir.ts';
import { openSqlite } from './open.ts';

test('reads of one tenant do not wait for all that another has asked for', async (t) => {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    folder.remove();
  });
  let answered = 0;
  const many = Array.from({ length: 200 }, async () => {
    await store.runs.list('busy', { limit: 100 });
    answered++;
  });
  await store.runs.row('quiet', 'run-1');
  assert.ok(answered <= 10, `${answered} of the other tenant's reads came first`);
  await Promise.all(many);
  assert.equal(answered, 200);
});
