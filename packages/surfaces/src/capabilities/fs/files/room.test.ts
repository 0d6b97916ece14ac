/** How much a tenant may keep as files, and that many files hold nobody up. */
import assert from 'node:assert/strict';
import { Dir, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NAME_BYTES } from '../../../ports/files.ts';
import { openEmbeddedDatabase } from '../../../sqlite/database.ts';
import { NOW, read, write } from '../../../testing/calls.ts';
import { freshFolder } from '../../../testing/data-dir.ts';
import { at, textAt } from '../../../testing/files-calls.ts';
import { openFiles } from './open-files.ts';

async function world(t: TestContext, room: { readonly quotaBytes: number; readonly filesMax?: number }) {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  const port = await openFiles({ database, dataDir: folder.path, now: () => NOW, ...room });
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  return { port, roots: join(folder.path, 'files', 'roots') };
}

const full = { code: 'fs_quota_exhausted' };

test('empty files take room, and more of it the deeper they lie', async (t) => {
  const { port } = await world(t, { quotaBytes: 4 * NAME_BYTES });
  await port.write(textAt('a', ''), write('acme'));
  await port.write(textAt('d/e/f', ''), write('acme'));
  await assert.rejects(port.write(textAt('b', ''), write('acme')), full);
  await assert.rejects(port.write(textAt('a', 'x'), write('acme')), full);
  await port.write(textAt('a', ''), write('acme'));
  await port.write(textAt('b', ''), write('other'));
  await port.delete(at('d/e/f'), write('acme'));
  await assert.rejects(port.write(textAt('d/e/f/g', ''), write('acme')), full);
  for (const path of ['b', 'c', 'd']) await port.write(textAt(path, ''), write('acme'));
  await assert.rejects(port.write(textAt('e', ''), write('acme')), full);
});

test('a tenant has so many files, in all its workspaces', async (t) => {
  const { port } = await world(t, { quotaBytes: 1e6, filesMax: 2 });
  await port.write(textAt('a', 'x'), write('acme'));
  await port.write({ ...textAt('a', 'x'), workspace: 'second' }, write('acme'));
  const many = { ...full, message: /2 files.*Delete files/, details: { maxFiles: 2 } };
  await assert.rejects(port.write(textAt('b', 'x'), write('acme')), many);
  await port.write(textAt('a', 'more', 'append'), write('acme'));
  await port.write(textAt('b', 'x'), write('other'));
  await port.delete(at('a'), write('acme'));
  await port.write(textAt('b', 'x'), write('acme'));
  await assert.rejects(port.write(textAt('c', 'x'), write('acme')), many);
});

test('workspaces that write at once do not pass the bounds of their tenant together', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const room of [{ quotaBytes: 3 * NAME_BYTES }, { quotaBytes: 1e6, filesMax: 3 }]) {
    const { port } = await world(t, room);
    const writes = names.map((workspace) => port.write({ ...textAt('f', ''), workspace }, write('acme')));
    const ends = await Promise.allSettled(writes);
    const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []));
    assert.deepEqual(refusals, Array(5).fill(full.code), JSON.stringify(room));
    const workspace = names[ends.findIndex(({ status }) => status === 'fulfilled')]!;
    await port.delete({ workspace, path: 'f' }, write('acme'));
    await port.write({ ...textAt('f', ''), workspace }, write('acme'));
  }
});

const FILES = 10_000;

/** How many names were read, in all and at most between two turns of everything else. */
async function namesRead(
  t: TestContext,
  work: () => Promise<unknown>,
): Promise<{ all: number; atOnce: number }> {
  const reads = [t.mock.method(Dir.prototype, 'read').mock, t.mock.method(Dir.prototype, 'readSync').mock];
  let [all, atOnce, isOver] = [0, 0, false];
  const look = (): void => {
    const now = reads.reduce((sum, each) => sum + each.callCount(), 0);
    atOnce = Math.max(atOnce, now - all);
    all = now;
    if (!isOver) setImmediate(look);
  };
  look();
  await work();
  isOver = true;
  look();
  return { all, atOnce };
}

test('a folder of many files is listed in pieces', async (t) => {
  const { port, roots } = await world(t, { quotaBytes: 1e6 });
  await port.write(textAt('many/file', 'x'), write('acme'));
  const folder = join(roots, readdirSync(roots)[0]!, 'many');
  mkdirSync(join(folder, 'below'));
  for (const name of ['file', ...Array.from({ length: FILES }, (_, index) => `f${index}`)])
    writeFileSync(join(folder, name), '');
  const page = (limit: number, after: string | null) => {
    const range = { workspace: 'main', prefix: 'many/', limit, after, recursive: false, hidden: true };
    return port.list(range, read('acme'));
  };
  const sorted = readdirSync(folder)
    .filter((name) => name !== 'below')
    .sort();
  const paths = ['many/below/', ...sorted.map((name) => `many/${name}`)];
  assert.deepEqual(
    (await page(1_000, paths[7]!)).map(({ path }) => path),
    paths.slice(8, 1_008),
  );
  const { all, atOnce } = await namesRead(t, () => page(1, paths[FILES / 2]!));
  assert.ok(all >= FILES, `${all} in all`);
  assert.ok(atOnce <= FILES / 10, `${atOnce} at once`);
});
