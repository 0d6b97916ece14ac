import assert from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();

test('lists that stand still leave connections for reads and commits of others', {
  skip: 'skip' in database && database.skip,
}, async (t) => {
  if ('skip' in database) return;
  const store = await openPostgres(database);
  const holder = postgres(database.url, { max: 1 });
  t.after(async () => {
    await holder.end();
    await store.close();
    await database.drop();
  });
  let answered = 0;
  const lists: Promise<unknown>[] = [];
  await holder.begin(async (tx) => {
    await tx`lock table entries in access exclusive mode`;
    for (const tenant of ['busy', 'busier'])
      for (let i = 0; i < 20; i++)
        lists.push(store.entries.list('schedule', tenant, { limit: 100 }).then(() => answered++));
    for (let i = 0; i < 20; i++) {
      assert.equal(await store.runs.row('quiet', 'run-1'), null);
      assert.equal(await store.runs.load('quiet', 'run-1'), null);
    }
    assert.deepEqual(await store.commit([[{ kind: 'putDefinition', hash: 'h', body: '{}' }]]), [
      { won: true },
    ]);
    assert.equal(answered, 0);
  });
  await Promise.all(lists);
  assert.equal(answered, 40);
});
