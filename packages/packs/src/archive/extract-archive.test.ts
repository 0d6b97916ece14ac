import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { hostile } from '../testing/tar.ts';
import { integrityOf } from '../trust/keys.ts';
import { extractArchive } from './extract-archive.ts';
import { archiveOf } from './write-archive.ts';

const home = await mkdtemp(path.join(tmpdir(), 'gantry-extract-'));
after(() => rm(home, { recursive: true, force: true }));

const files = new Map([
  ['pack.json', Buffer.from('{}')],
  ['lib/deep/a.mjs', Buffer.from('export {};')],
]);
const { bytes, integrity } = await archiveOf(files);

test('a pack appears whole at its target, with plain modes', async () => {
  const target = path.join(home, 'whole');
  const extraction = await extractArchive(bytes, { target, integrity });
  assert.equal(extraction.outcome, 'extracted');
  assert.equal(extraction.manifestBytes.toString(), '{}');
  assert.equal(await readFile(path.join(target, 'lib/deep/a.mjs'), 'utf8'), 'export {};');
  assert.equal((await stat(path.join(target, 'lib/deep/a.mjs'))).mode & 0o7777 & ~0o644, 0);
});

test('an archive that is not the published one leaves nothing', async () => {
  const folder = await mkdtemp(path.join(home, 'other-'));
  const target = path.join(folder, 'pack');
  await assert.rejects(extractArchive(bytes, { target, integrity: integrityOf(Buffer.from('x')) }), {
    code: 'pack_integrity_failure',
  });
  const spoilt = hostile({ name: 'a', content: 'x' }, { name: '../escape', content: 'x' });
  await assert.rejects(extractArchive(spoilt, { target, integrity: integrityOf(spoilt) }), {
    code: 'tarball_path_traversal',
  });
  assert.deepEqual(await readdir(folder), []);
});

test('of many that extract at once one puts it there and the others find it', async () => {
  const folder = await mkdtemp(path.join(home, 'race-'));
  const target = path.join(folder, 'pack');
  const all = await Promise.all(
    Array.from({ length: 5 }, () => extractArchive(bytes, { target, integrity })),
  );
  assert.equal(all.filter(({ outcome }) => outcome === 'extracted').length, 1);
  assert.deepEqual(await readdir(folder), ['pack']);
});

test('a link that waits at the target is not followed', async () => {
  const folder = await mkdtemp(path.join(home, 'link-'));
  const elsewhere = await mkdtemp(path.join(home, 'elsewhere-'));
  await symlink(elsewhere, path.join(folder, 'pack'));
  await assert.rejects(extractArchive(bytes, { target: path.join(folder, 'pack'), integrity }));
  assert.deepEqual(await readdir(elsewhere), []);
  assert.deepEqual(await readdir(folder), ['pack']);
});
