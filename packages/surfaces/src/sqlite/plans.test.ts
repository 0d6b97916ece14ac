/** How statements find what has expired, and that triggers count what is deleted. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freshFolder } from '../testing/data-dir.ts';
import { DROP_EXPIRED as DROP_EXPIRED_VALUES } from './cache.ts';
import { factsOf } from './database-files.ts';
import { FIND_EXPIRED } from './kv.ts';
import { openForWriting } from './open-file.ts';
import { DROP_EXPIRED as DROP_EXPIRED_MESSAGES } from './queue-messages.ts';

function opened(t: TestContext) {
  const folder = freshFolder();
  const database = openForWriting(factsOf({ file: 'surfaces', dataDir: folder.path, extensions: [] }));
  t.after(() => {
    database.close();
    folder.remove();
  });
  return database;
}

test('triggers count what comes and goes', (t) => {
  const database = opened(t);
  database.exec(`
    insert into kv values (null, 'a', 'é', 'ü', '1', 300, null), (null, 'b', 'é', 'ü', '1', 300, null);
    insert into cache values (null, 'a', 'é', 'ü', '1', 300, 1, 1, 1);
    insert into blobs values (null, 'a', 'artifacts', 'b/c', 'f', 10, null);
    insert into files values ('a', 'main', 'd/e/🙂', 100, null);
  `);
  const used = database.prepare('select area, tenant, bytes from usage order by area, tenant').all();
  assert.deepEqual(
    used.map((row) => Object.values(row)),
    [
      ['blobs', 'a', 1_034],
      ['cache', 'a', 300],
      ['files', 'a', 3_172],
      ['kv', 'a', 300],
      ['kv', 'b', 300],
    ],
  );
  database.exec('delete from kv; delete from cache; delete from blobs; delete from files');
  assert.equal(database.prepare('select sum(bytes) as bytes from usage').get()?.bytes, 0);
  assert.equal(database.prepare('select sum(files) as files from file_counts').get()?.files, 0);
});

test('what has expired is found without reading what has not', (t) => {
  const database = opened(t);
  const planOf = (sql: string): string =>
    database
      .prepare(`explain query plan ${sql}`)
      .all('t', 1, 1)
      .map(({ detail }) => detail)
      .join('; ');
  assert.match(
    planOf(FIND_EXPIRED),
    /COVERING INDEX kv_of_tenant_by_expiry \(tenant=\? AND expires_at<\?\)$/,
  );
  assert.match(planOf(DROP_EXPIRED_VALUES), /cache_of_tenant_by_expiry \(tenant=\? AND expires_at<\?\)/);
  const messages = planOf(`${DROP_EXPIRED_MESSAGES} and ? = 1`);
  assert.match(messages, /queue_messages_of_tenant_by_expiry \(tenant=\? AND expires_at<\?\)/);
});
