/** The log of a database stays small however scans overlap. */
import assert from 'node:assert/strict';
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isEqual } from '../capabilities/documents/filter.ts';
import { NOSQL_LIMITS } from '../capabilities/nosql/surface.ts';
import { read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { embeddedDocuments } from './documents.ts';
import { embeddedKv } from './kv.ts';
import { databasePath, LOG_BYTES_MAX } from './open-file.ts';
import { ScansLog } from './scans.ts';

const VALUE = 'y'.repeat(1_000_000);

function logOf(t: TestContext) {
  const folder = freshFolder();
  t.after(folder.remove);
  const pathOf = (tenant: string) => join(folder.path, tenant);
  /** Without a byte on the disk. */
  const grow = (tenant: string, bytes: number): void => {
    writeFileSync(`${pathOf(tenant)}-wal`, '');
    truncateSync(`${pathOf(tenant)}-wal`, bytes);
  };
  return { pathOf, grow };
}

test('one that is too long lets no scan begin until it was emptied, after the last that is under way', async (t) => {
  const { pathOf, grow } = logOf(t);
  const asked = Promise.withResolvers<void>();
  const emptied = Promise.withResolvers<void>();
  const log = new ScansLog({
    pathOf: () => pathOf('shared'),
    async checkpoint() {
      asked.resolve();
      await emptied.promise;
      grow('shared', 0);
    },
  });
  assert.equal(await log.ended('acme', ['other']), false, 'there is no log yet');
  grow('shared', LOG_BYTES_MAX);
  assert.equal(await log.ended('acme', []), false);
  grow('shared', LOG_BYTES_MAX + 1);
  assert.equal(log.mayBegin('acme'), true, 'only ends are looked at');
  assert.equal(await log.ended('acme', ['other']), false);
  assert.deepEqual([log.mayBegin('acme'), log.mayBegin('third')], [false, false]);
  const last = log.ended('other', []);
  await asked.promise;
  assert.equal(log.mayBegin('acme'), false);
  emptied.resolve();
  assert.equal(await last, true);
  assert.equal(log.mayBegin('acme'), true);
});

test('one that cannot be emptied holds nobody up for ever, and is tried when it has grown as much again', async (t) => {
  const { pathOf, grow } = logOf(t);
  let asked = 0;
  const checkpoint = () => {
    asked++;
    return Promise.reject(new Error('the disk is full'));
  };
  const log = new ScansLog({ pathOf, checkpoint });
  for (const [bytes, attempts] of [
    [LOG_BYTES_MAX + 1, 1],
    [2 * LOG_BYTES_MAX + 1, 1],
    [2 * LOG_BYTES_MAX + 2, 2],
    [3 * LOG_BYTES_MAX, 2],
  ] as const) {
    grow('acme', bytes);
    await log.ended('acme', []);
    assert.deepEqual([asked, log.mayBegin('acme')], [attempts, true], `at ${bytes}`);
  }
});

test('where each tenant has a file, one waits for no other', async (t) => {
  const { pathOf, grow } = logOf(t);
  const log = new ScansLog({ pathOf, checkpoint: async () => grow('acme', 0) });
  grow('acme', LOG_BYTES_MAX + 1);
  await log.ended('acme', ['acme', 'other']);
  assert.deepEqual([log.mayBegin('acme'), log.mayBegin('other')], [false, true]);
  assert.equal(await log.ended('acme', ['other']), true);
  assert.equal(log.mayBegin('acme'), true);
});

test('after a scan, a log that is too long is emptied', async (t) => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  const kv = embeddedKv(database, { quotaBytes: 2 * LOG_BYTES_MAX });
  const put = (key: string) => kv.put({ namespace: '', key, value: VALUE, expiresAt: null }, write('acme'));
  await Promise.all(Array.from({ length: 70 }, (_, n) => put(`k${n}`)));
  const bytes = () => statSync(`${databasePath(folder.path)}-wal`).size;
  assert.ok(bytes() > LOG_BYTES_MAX, 'one transaction may be as long');
  const documents = embeddedDocuments(database, NOSQL_LIMITS);
  const scan = () =>
    documents.count({ space: 's', collection: 'c', filter: isEqual(['n'], 7) }, read('acme'));
  await scan();
  assert.equal(await scan(), 0, 'it waits for that');
  assert.equal(bytes(), 0);
});
