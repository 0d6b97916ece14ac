/** What a page of keys costs: its own keys, whatever lies before and behind it. */
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { LOOKED_AT_MAX } from '../capabilities/kv/key-range.ts';
import { NOW, read } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { listFrom as listBlobs } from './blobs.ts';
import { openEmbeddedDatabase } from './database.ts';
import { factsOf } from './database-files.ts';
import { embeddedKv, kvArea, listFrom } from './kv.ts';
import { openForWriting } from './open-file.ts';

function opened(t: TestContext): { readonly database: DatabaseSync; readonly dataDir: string } {
  const folder = freshFolder();
  const database = openForWriting(factsOf({ file: 'surfaces', dataDir: folder.path, extensions: [] }));
  t.after(() => {
    database.close();
    folder.remove();
  });
  return { database, dataDir: folder.path };
}

test('a page of keys or objects is one range of the index, from its first key to its end', (t) => {
  const { database } = opened(t);
  for (const [listFromIn, index, group] of [
    [listFrom, 'kv', 'namespace'],
    [listBlobs, 'blobs', 'bucket'],
  ] as const)
    for (const operator of ['>', '>='] as const) {
      const plan = database.prepare(`explain query plan ${listFromIn(operator)}`).all('t', 'n', 'a', 'b', 1);
      assert.deepEqual(
        plan.map(({ detail }) => detail),
        [
          `SEARCH ${index} USING INDEX sqlite_autoindex_${index}_1 (tenant=? AND ${group}=? AND key>? AND key<?)`,
        ],
      );
    }
});

const EXPIRED = 2 * LOOKED_AT_MAX + 1;
/** `a…` have expired, `b…` have not. */
const fill = (database: DatabaseSync): void =>
  database.exec(`
    with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n + 1 < ${EXPIRED})
    insert into kv (tenant, namespace, key, value, bytes, expires_at)
    select 't', 'n', printf('a%06d', n), '1', 300, ${NOW} from numbers;
    insert into kv (tenant, namespace, key, value, bytes, expires_at)
    values ('t', 'n', 'b1', '1', 300, null), ('t', 'n', 'b2', '1', 300, ${NOW + 1}), ('t', 'n', 'b3', '1', 300, null);
  `);

test('one read looks at so many keys and says where it stopped', (t) => {
  const { database } = opened(t);
  fill(database);
  const { list } = kvArea.reads(database);
  const page = { namespace: 'n', prefix: '', after: null, limit: 2 };
  assert.deepEqual(list('t', page, 4, NOW), { keys: [], next: 'a000003' });
  assert.deepEqual(list('t', { ...page, after: 'a000003' }, 10, NOW - 1), {
    keys: ['a000004', 'a000005'],
    next: null,
  });
  assert.deepEqual(list('t', { ...page, prefix: 'b' }, 10, NOW), { keys: ['b1', 'b2'], next: null });
  assert.deepEqual(list('t', { ...page, prefix: 'b', limit: 9 }, 3, NOW), {
    keys: ['b1', 'b2', 'b3'],
    next: 'b3',
  });
});

test('a page is whole, however many expired keys lie before it', async (t) => {
  const { database: raw, dataDir } = opened(t);
  fill(raw);
  const database = await openEmbeddedDatabase({ dataDir });
  t.after(() => database.close());
  const port = embeddedKv(database, { quotaBytes: 1e9 });
  const page = { namespace: 'n', prefix: '', after: null, limit: 2 };
  assert.deepEqual(await port.list(page, read('t')), ['b1', 'b2']);
  assert.deepEqual(await port.list({ ...page, limit: 9 }, read('t', NOW + 1)), ['b1', 'b3']);
  assert.deepEqual(await port.list({ ...page, prefix: 'a' }, read('t')), []);
});
