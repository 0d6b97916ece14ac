import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TENANT } from '../contract/fixtures.ts';
import { StoreError } from '../error.ts';
import { startChild } from '../testing/child.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openSqlite } from './open.ts';

/** False when the command works, else why the test that needs it is skipped; with `CI=true` it must work. */
function missing(command: string, ...args: string[]): string | false {
  if (spawnSync(command, args).status === 0) return false;
  const reason = `\`${[command, ...args].join(' ')}\` does not work on this machine`;
  assert.notEqual(process.env.CI, 'true', reason);
  return reason;
}

const noLift = missing('prlimit', '--version');

test('a full disk rejects the commit, keeps reads, and later commits work', { skip: noLift }, async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const child = startChild('fill', folder.path, { fileKilobytesMax: 2_048 });
  t.after(child.kill);
  const full = JSON.parse(await child.next());
  assert.equal(full.failure, 'disk_full');
  assert.ok(full.committed > 0);
  assert.equal(full.readable, full.committed * 2, 'nothing half-done');
  spawnSync('prlimit', ['--pid', String(child.process.pid), '--fsize=unlimited:unlimited']);
  child.process.stdin.write('lifted\n');
  assert.deepEqual(JSON.parse(await child.next()), { afterwards: 'won' });
  await child.end();
  const store = await openSqlite({ dataDir: folder.path });
  const rows = await store.runs.list(TENANT, { limit: 1_000 });
  await store.close();
  assert.equal(rows.length, (full.committed + 1) * 2);
});

/** Root may write everywhere, unless it gives that up. */
const obeyModes =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : ['env'];
const noModes = missing(obeyModes[0] as string, ...obeyModes.slice(1), 'true');

for (const withData of [false, true]) {
  test(`a read-only folder ${withData ? 'with data' : 'without data'} is refused by name`, {
    skip: noModes,
  }, async (t) => {
    const folder = freshFolder();
    t.after(folder.remove);
    if (withData) await (await openSqlite({ dataDir: folder.path })).close();
    chmodSync(folder.path, 0o555);
    const child = startChild('open', folder.path, { prefix: obeyModes });
    t.after(child.kill);
    const said = await child.next();
    await child.end();
    chmodSync(folder.path, 0o700);
    assert.match(said, /^read_only: /);
    assert.ok(said.includes(folder.path));
  });
}

test('a folder that cannot exist is an io error', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  writeFileSync(join(folder.path, 'file'), '');
  const opening = openSqlite({ dataDir: join(folder.path, 'file', 'data') });
  await assert.rejects(opening, (error) => error instanceof StoreError && error.code === 'io');
});

test('a file that is no database is reported as damaged', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  writeFileSync(join(folder.path, 'gantry.db'), 'this is no database, however long it may be'.repeat(100));
  const opening = openSqlite({ dataDir: folder.path });
  await assert.rejects(opening, (error) => error instanceof StoreError && error.code === 'corrupt');
});

test('the data folder and its files are for their owner only', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const dataDir = join(folder.path, 'deep', 'data');
  const store = await openSqlite({ dataDir });
  const mode = (name: string) => (statSync(join(dataDir, name)).mode & 0o777).toString(8);
  const modes = ['.', 'gantry.db', 'gantry.db-wal', 'gantry.db-shm', 'lock.db', 'gantry.pid'].map(mode);
  await store.close();
  assert.deepEqual(modes, ['700', '600', '600', '600', '600', '600']);
});

test('what is asked of a closed store is rejected', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const store = await openSqlite({ dataDir: folder.path });
  const last = store.runs.list(TENANT, { limit: 1 });
  await store.close();
  await store.close();
  assert.deepEqual(await last, [], 'what was asked before is answered');
  await assert.rejects(store.commit([[]]), (error) => error instanceof StoreError && error.code === 'io');
  await assert.rejects(store.runs.row(TENANT, 'run-1'), StoreError);
});
