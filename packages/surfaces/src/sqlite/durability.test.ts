import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { LOADERS } from '../../../protocol/src/testing/loaders.ts';
import { NOW, read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from './database.ts';
import { embeddedKv } from './kv.ts';
import { databasePath } from './open-file.ts';
import { DatabaseThread } from './thread.ts';

const ROUNDS = 2;
const SCRIPT = join(import.meta.dirname, '../testing/increment-forever.ts');

const kvOf = (database: EmbeddedDatabase) => embeddedKv(database, { quotaBytes: 1_000_000 });
const counter = { namespace: '', key: 'n' };

/** Commits in the write-ahead log: frames that say the size of the database after them. */
function commits(dataDir: string): number {
  const log = readFileSync(`${databasePath(dataDir)}-wal`);
  const frameBytes = 24 + log.readUInt32BE(8);
  const frames = Math.floor((log.length - 32) / frameBytes);
  const ends = Array.from({ length: frames }, (_, index) => log.readUInt32BE(32 + index * frameBytes + 4));
  return ends.filter((size) => size > 0).length;
}

async function opened(t: TestContext, dataDir: string): Promise<EmbeddedDatabase> {
  const database = await openEmbeddedDatabase({ dataDir });
  t.after(() => database.close());
  return database;
}

/** Kills the process once `count` calls were acknowledged, with others under way; answers all it heard of. */
async function incrementUntilKilled(dataDir: string, first: number, count: number): Promise<number[]> {
  const child = spawn(process.execPath, [...LOADERS, SCRIPT, dataDir, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const acknowledged: number[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (line === '') continue;
    acknowledged.push(Number(line));
    if (acknowledged.length === count) child.kill('SIGKILL');
  }
  await exited;
  return acknowledged;
}

test('kill -9 amid writes: what was acknowledged is there, and repeating every call counts each once', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  let next = 0;
  let total = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await incrementUntilKilled(folder.path, next, 20 + round * 17);
    const last = Math.max(...acknowledged) + 20;
    const database = await openEmbeddedDatabase({ dataDir: folder.path });
    const kv = kvOf(database);
    const before = Number((await kv.get(counter, read('acme')))?.value);
    assert.ok(
      before >= total + acknowledged.length,
      `${before} after ${acknowledged.length} more than ${total}`,
    );
    const repeats = Array.from({ length: last + 1 - next }, (_, index) =>
      kv.increment({ ...counter, delta: 1 }, write('acme', { id: `call-${next + index}` })),
    );
    await Promise.all(repeats);
    total += repeats.length;
    assert.equal((await kv.get(counter, read('acme')))?.value, total);
    await database.close();
    next = last + 1;
  }
});

test('time to live goes on through a restart', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const first = await openEmbeddedDatabase({ dataDir: folder.path });
  const entry = { namespace: '', key: 'k', value: 1, expiresAt: NOW + 1_000 };
  await kvOf(first).put(entry, write('acme'));
  await first.close();
  const second = await opened(t, folder.path);
  assert.equal((await kvOf(second).get(entry, read('acme', NOW + 999)))?.value, 1);
  assert.equal(await kvOf(second).get(entry, read('acme', NOW + 1_000)), null);
});

test('what is asked in one turn is one transaction, and one that fails harms no other', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const kv = kvOf(await opened(t, folder.path));
  await kv.put({ namespace: '', key: 'text', value: 'x', expiresAt: null }, write('acme'));
  const before = commits(folder.path);
  const answers = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) =>
      kv.increment({ namespace: '', key: index === 7 ? 'text' : 'n', delta: 1 }, write('acme')),
    ),
  );
  assert.equal(commits(folder.path) - before, 1);
  const failed = answers.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []));
  assert.deepEqual(failed, [7]);
  assert.equal((await kv.get(counter, read('acme')))?.value, 29);
});

test('a write lock held by someone else is waited for by nobody but writers of the same file', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const kv = kvOf(await opened(t, folder.path));
  await kv.put({ ...counter, value: 1, expiresAt: null }, write('acme'));
  const file = new DatabaseSync(databasePath(folder.path));
  t.after(() => file.close());
  file.exec('begin immediate');
  const waiting = kv.put({ ...counter, value: 2, expiresAt: null }, write('acme'));
  assert.equal((await kv.get(counter, read('acme')))?.value, 1, 'reads go on');
  file.exec('rollback');
  assert.deepEqual(await waiting, { replaced: true });
});

test('a thread that dies fails those who wait, and the next request starts it anew', async (t) => {
  const thread = new DatabaseThread(new URL('../testing/mortal-thread.ts', import.meta.url), {});
  t.after(() => thread.close());
  const ask = (name: string) => thread.request({ area: 'test', name, args: [name], invocation: null });
  assert.equal(await ask('hello'), 'hello');
  const lost = await Promise.allSettled([ask('first'), ask('die'), ask('third')]);
  for (const each of lost)
    assert.equal(each.status === 'rejected' && each.reason.code, 'storage_unavailable');
  assert.equal(await ask('again'), 'again');
});

test('after closing, requests are refused rather than lost', async () => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  const late = kvOf(database).increment({ ...counter, delta: 1 }, write('acme'));
  await database.close();
  assert.equal((await late).value, 1, 'what was asked before is done');
  await assert.rejects(kvOf(database).get(counter, read('acme')), { code: 'storage_unavailable' });
  folder.remove();
});

test('data of a newer version is refused', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const file = new DatabaseSync(databasePath(folder.path));
  file.exec('pragma user_version = 999');
  file.close();
  await assert.rejects(openEmbeddedDatabase({ dataDir: folder.path }), /schema version 999/);
});
