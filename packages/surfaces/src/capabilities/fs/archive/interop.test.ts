/** Archives of other programs are read here, and those of ours by them. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { missing } from '../../../testing/servers.ts';
import { FORMATS } from '../convert/archives.ts';
import type { ArchiveFormat } from '../convert/task.ts';
import { plainEntries } from './names.ts';

const home = mkdtempSync(join(tmpdir(), 'gantry-archives-'));
after(() => rmSync(home, { recursive: true, force: true }));

/** Names that are short, long, deep and not ASCII; contents that are empty, dense and sparse. */
const FILES: Readonly<Record<string, Buffer>> = {
  'a.txt': Buffer.from('a line of text\n'.repeat(500)),
  'empty.txt': Buffer.alloc(0),
  'folder/ünïcode 漢字.bin': Buffer.from(Array.from({ length: 2_000 }, (_, index) => (index * 7_919) % 256)),
  [`${'deep-folder/'.repeat(14)}file-${'x'.repeat(120)}.txt`]: Buffer.alloc(5_000, 'z'),
};

const source = join(home, 'source');
for (const [path, bytes] of Object.entries(FILES)) {
  mkdirSync(join(source, path, '..'), { recursive: true });
  writeFileSync(join(source, path), bytes);
}

const sorted = (entries: readonly (readonly [string, Uint8Array])[]) =>
  entries
    .map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
const EXPECTED = sorted(Object.entries(FILES));

async function readHere(format: ArchiveFormat, file: string) {
  const { files, folders } = FORMATS[format].read(readFileSync(file));
  const paths = await plainEntries({ files: files.map(({ path }) => path), folders });
  return sorted(files.map(({ bytes }, index) => [paths[index]!, bytes]));
}

async function writtenHere(format: ArchiveFormat): Promise<string> {
  const file = join(home, `ours.${format}`);
  const files = Object.entries(FILES).map(([path, bytes]) => ({ path, bytes }));
  writeFileSync(file, await FORMATS[format].write(files));
  return file;
}

/** The folder that another program has unpacked into. */
const unpackedIn = (folder: string) =>
  sorted(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(folder.length + 1), readFileSync(file)]),
  );

function needs(program: string, flag: string, says = '') {
  const { status, stdout } = spawnSync(program, [flag], { encoding: 'utf8' });
  const isThere = status === 0 && stdout.includes(says);
  return { skip: !isThere && missing(says || program, `install ${says || program} to test against it`) };
}

const utf8 = { env: { ...process.env, LC_ALL: 'C.UTF-8' } };
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: source, stdio: 'pipe', ...utf8 });

const fresh = (name: string): string => {
  const folder = join(home, name);
  mkdirSync(folder);
  return folder;
};

describe('tar', needs('tar', '--version', 'GNU tar'), () => {
  for (const kind of ['ustar', 'gnu', 'pax', 'v7'] as const)
    test(`its ${kind} archives are read`, async () => {
      const file = join(home, `${kind}.tar`);
      // The older formats have no room for long names
      const args = kind === 'ustar' || kind === 'v7' ? ['a.txt', 'empty.txt'] : ['.'];
      run('tar', `--format=${kind}`, '-cf', file, ...args);
      const expected = EXPECTED.filter(([path]) => args[0] === '.' || args.includes(path!));
      assert.deepEqual(await readHere('tar', file), expected);
    });

  test('its compressed archives are read', async () => {
    run('tar', '-czf', join(home, 'theirs.tar.gz'), '.');
    assert.deepEqual(await readHere('tar-gz', join(home, 'theirs.tar.gz')), EXPECTED);
  });

  for (const [format, flags] of [
    ['tar', '-xf'],
    ['tar-gz', '-xzf'],
  ] as const)
    test(`reads our ${format}`, async () => {
      const folder = fresh(`by-tar-${format}`);
      run('tar', flags, await writtenHere(format), '-C', folder);
      assert.deepEqual(unpackedIn(folder), EXPECTED);
    });

  test('what it writes of a link is refused with its name', async () => {
    const folder = fresh('links');
    symlinkSync('/etc/passwd', join(folder, 'secret'));
    for (const kind of ['gnu', 'pax']) {
      run('tar', `--format=${kind}`, '-cf', join(home, 'link.tar'), '-C', folder, '.');
      await assert.rejects(readHere('tar', join(home, 'link.tar')), { message: /secret" of .* is a link/ });
    }
  });
});

describe('zip', needs('zip', '-v'), () => {
  test('its archives are read, also those that it streams', async () => {
    run('zip', '-qr', join(home, 'theirs.zip'), '.');
    assert.deepEqual(await readHere('zip', join(home, 'theirs.zip')), EXPECTED);
    writeFileSync(join(home, 'streamed.zip'), run('zip', '-qr', '-', 'a.txt', 'folder'));
    const some = EXPECTED.filter(([path]) => path === 'a.txt' || path!.startsWith('folder/'));
    assert.deepEqual(await readHere('zip', join(home, 'streamed.zip')), some);
  });

  test('what it writes of a link, or with a password, is refused with its name', async () => {
    const folder = fresh('zip-links');
    symlinkSync('/etc/passwd', join(folder, 'secret'));
    execFileSync('zip', ['-qry', join(home, 'link.zip'), '.'], { cwd: folder });
    await assert.rejects(readHere('zip', join(home, 'link.zip')), { message: /"secret".*is a link/ });
    run('zip', '-qP', 'password', join(home, 'locked.zip'), 'a.txt');
    await assert.rejects(readHere('zip', join(home, 'locked.zip')), { message: /"a.txt".*encrypted/ });
  });
});

test('unzip reads our zip', needs('unzip', '-v'), async () => {
  const folder = fresh('by-unzip');
  run('unzip', '-q', await writtenHere('zip'), '-d', folder);
  assert.deepEqual(unpackedIn(folder), EXPECTED);
});

describe('python', needs('python3', '--version'), () => {
  const python = (code: string, ...args: string[]) => run('python3', '-c', code, ...args);

  test('its archives are read', async () => {
    const [zip, tar] = [join(home, 'python.zip'), join(home, 'python.tar.gz')];
    python(`import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', '.')`, zip.slice(0, -4));
    assert.deepEqual(await readHere('zip', zip), EXPECTED);
    python(`import tarfile, sys\nwith tarfile.open(sys.argv[1], 'w:gz') as made: made.add('.')`, tar);
    assert.deepEqual(await readHere('tar-gz', tar), EXPECTED);
  });

  test('checks and reads ours', async () => {
    const [zips, tars] = [fresh('by-zipfile'), fresh('by-tarfile')];
    const code = `
import sys, tarfile, zipfile
ours = zipfile.ZipFile(sys.argv[1])
assert ours.testzip() is None
assert all(i.date_time == (1980, 1, 1, 0, 0, 0) and i.external_attr >> 16 == 0o100644 for i in ours.infolist())
ours.extractall(sys.argv[2])
tarfile.open(sys.argv[3]).extractall(sys.argv[4])
`;
    python(code, await writtenHere('zip'), zips, await writtenHere('tar-gz'), tars);
    assert.deepEqual(unpackedIn(zips), EXPECTED);
    assert.deepEqual(unpackedIn(tars), EXPECTED);
  });
});
