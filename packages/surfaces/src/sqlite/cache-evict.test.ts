import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOW } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { cacheArea } from './cache.ts';
import { factsOf } from './database-files.ts';
import { openForWriting } from './open-file.ts';

test('a large namespace leaves in steps, none of which holds up other writers for long', (t) => {
  const folder = freshFolder();
  const database = openForWriting(factsOf({ file: 'surfaces', dataDir: folder.path, extensions: [] }));
  t.after(() => {
    database.close();
    folder.remove();
  });
  database.exec('begin');
  const [reads, writes] = [cacheArea.reads(database), cacheArea.writes(database)];
  const facts = { now: NOW, capacity: 1e9, uses: [] };
  for (let key = 0; key < 2_100; key++)
    writes.put({ tenant: 't', namespace: 'n', key: String(key) }, { value: 1, expiresAt: NOW + 1 }, facts);
  const rows = () => Number(database.prepare('select count(*) as many from cache').get()?.many);
  assert.ok(reads.isLarge('t', 'n', 'i'));
  assert.ok(!reads.isLarge('t', 'm', 'i'));
  assert.deepEqual(writes.evictSome('t', 'n', NOW), { evicted: 1_000, isMore: true });
  assert.equal(rows(), 1_100);
  assert.deepEqual(writes.evictSome('t', 'n', NOW + 1), { evicted: 0, isMore: true });
  assert.ok(!reads.isLarge('t', 'n', 'i'));
  assert.deepEqual(writes.evict('t', 'n', null, { now: NOW, before: 7 }), { evicted: 107 });
  assert.equal(rows(), 0);
});
