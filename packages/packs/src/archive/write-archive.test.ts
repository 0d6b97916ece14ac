import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { readIgnore } from './ignore.ts';
import { writeArchive } from './write-archive.ts';

const home = await mkdtemp(path.join(tmpdir(), 'gantry-write-'));
after(() => rm(home, { recursive: true, force: true }));

async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(home, 'pack-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

describe('writing archives', () => {
  test('the same files give the same bytes, whatever their order, times and modes', async () => {
    const first = await folderOf({ 'pack.json': '{}', 'b.mjs': 'b', 'a/c.mjs': 'c' });
    const second = await folderOf({ 'a/c.mjs': 'c', 'b.mjs': 'b', 'pack.json': '{}' });
    await chmod(path.join(second, 'b.mjs'), 0o700);
    await utimes(path.join(second, 'a/c.mjs'), 1, 1);
    const one = await writeArchive(first);
    const other = await writeArchive(second);
    assert.deepEqual(one.paths, ['a/c.mjs', 'b.mjs', 'pack.json']);
    assert.equal(one.integrity, other.integrity);
    assert.deepEqual(one.bytes, other.bytes);
  });

  test('headers say nothing of the machine', async () => {
    const { bytes } = await writeArchive(await folderOf({ 'pack.json': '{}' }));
    assert.equal(bytes.readUInt32LE(4), 0, 'gzip time');
    assert.equal(bytes[9], 0xff, 'gzip system');
    const header = gunzipSync(bytes).subarray(0, 512);
    assert.equal(header.toString('latin1', 100, 107), '000644 ');
    assert.equal(header.toString('latin1', 108, 124).replaceAll('\0', ''), '000000 000000 ');
    assert.match(header.toString('latin1', 136, 147), /^0{11}$/);
    assert.equal(header.toString('latin1', 257, 265), 'ustar\x0000');
  });

  test('what must not be in an archive is left out, and the author decides about the rest', async () => {
    const folder = await folderOf({
      'pack.json': '{}',
      '.openwopignore': '# notes\n*.md\n!README.md\n/build/\n',
      'README.md': '',
      'notes.md': '',
      'build/x.js': '',
      'dist/build/x.js': '',
      'node_modules/a/index.js': '',
      '.git/config': '',
      '.env': 'SECRET=1',
      'package-lock.json': '{}',
    });
    assert.deepEqual((await writeArchive(folder)).paths, ['README.md', 'dist/build/x.js', 'pack.json']);
  });

  test('links and folders without a manifest are refused', async () => {
    const folder = await folderOf({ 'pack.json': '{}' });
    await symlink('/etc/passwd', path.join(folder, 'passwd'));
    await assert.rejects(writeArchive(folder), { code: 'unsafe_paths' });
    await assert.rejects(writeArchive(await folderOf({ a: '' })), { code: 'tarball_manifest_missing' });
  });
});

describe('.openwopignore', () => {
  for (const [patterns, file, isIgnored] of [
    ['*.log', 'a/b.log', true],
    ['/a.log', 'b/a.log', false],
    ['a/*.js', 'a/b/c.js', false],
    ['a/**/c.js', 'a/b/b/c.js', true],
    ['a/**/c.js', 'a/c.js', true],
    ['**/test', 'x/y/test', true],
    ['file?.txt', 'file1.txt', true],
    ['dir/', 'dir', false],
    ['*\n!keep.md', 'keep.md', false],
    ['!node_modules', 'node_modules', true],
    ['', 'a', false],
  ] as const)
    test(`${JSON.stringify(patterns)} ${isIgnored ? 'leaves out' : 'keeps'} ${file}`, () => {
      assert.equal(readIgnore(patterns).ignores(file, 'file'), isIgnored);
    });

  test('a pattern made to be slow is not', () => {
    const rules = readIgnore(`${'*a'.repeat(120)}b\n${'**/'.repeat(60)}b`);
    const started = process.cpuUsage();
    assert.equal(rules.ignores(`${'a/'.repeat(100)}${'a'.repeat(5000)}`, 'file'), false);
    assert.ok(process.cpuUsage(started).user < 2_000_000);
  });
});
