import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { archiveOf, readArchive } from '@gantry/packs';
import { packIn, scaffolded, temporaryFolder } from './testing/pack-folder.ts';

test('what is signed verifies with its key, and with no other', async (t) => {
  const folder = await scaffolded(t);
  const stranger = await temporaryFolder(t);
  await packIn(stranger, 'keygen', 'acme-2026');
  const root = await temporaryFolder(t);
  await packIn(root, 'keygen', 'acme-2026');
  const key = await stat(path.join(root, 'acme-2026.pem'));
  assert.equal(key.mode & 0o077, 0, 'nobody else reads the private key');
  const archive = path.join(root, 'greeter.tgz');
  const own = await packIn(root, 'sign', folder, '--signing-key', 'acme-2026.pem', '--out', archive);
  assert.equal(own.code, 0, own.err);

  const right = await packIn(root, 'verify', archive, '--keys', 'acme-2026.pub');
  assert.equal(right.code, 0);
  assert.match(right.out, /signature {2}is right, by acme-2026/);
  const other = await packIn(root, 'verify', archive, '--keys', path.join(stranger, 'acme-2026.pub'));
  assert.equal(other.code, 1);
  assert.match(other.out, /signature {2}is wrong/);
  const unknown = await packIn(root, 'verify', archive);
  assert.equal(unknown.code, 1);
  assert.match(unknown.out, /cannot be verified: .*--keys/);
});

test('an archive is signed in place of its folder, and a changed manifest shows', async (t) => {
  const folder = await scaffolded(t);
  const root = await temporaryFolder(t);
  await packIn(root, 'keygen', 'acme');
  await packIn(root, 'build', folder, '--out', 'plain.tgz');
  await packIn(root, 'sign', 'plain.tgz', '--signing-key', 'acme.pem', '--out', 'signed.tgz');
  assert.equal((await packIn(root, 'verify', 'signed.tgz', '--keys', '.')).code, 0);

  const { files } = await readArchive(await readFile(path.join(root, 'signed.tgz')));
  const manifest = String(files.get('pack.json')).replace('Greets people.', 'Greets everyone.');
  const forged = await archiveOf(new Map([...files, ['pack.json', Buffer.from(manifest)]]));
  await writeFile(path.join(root, 'forged.tgz'), forged.bytes);
  const { code, out } = await packIn(root, 'verify', 'forged.tgz', '--keys', '.');
  assert.equal(code, 1);
  assert.match(out, /is wrong/);
});

test('an unsigned archive proves its integrity alone', async (t) => {
  const folder = await scaffolded(t);
  const root = await temporaryFolder(t);
  const built = await packIn(root, 'build', folder, '--out', 'plain.tgz', '--json');
  const { integrity } = JSON.parse(built.out);
  assert.equal((await packIn(root, 'verify', 'plain.tgz', '--integrity', integrity)).code, 0);
  const other = `sha256-${'A'.repeat(43)}=`;
  const differs = await packIn(root, 'verify', 'plain.tgz', '--integrity', other);
  assert.equal(differs.code, 1);
  assert.match(differs.out, /differs from/);
  await packIn(root, 'keygen', 'acme');
  const wanted = await packIn(root, 'verify', 'plain.tgz', '--keys', 'acme.pub');
  assert.equal(wanted.code, 1, 'whoever gives a key wants a signature');
});

test('keys are never written over, and only private keys sign', async (t) => {
  const folder = await scaffolded(t);
  const root = await temporaryFolder(t);
  await packIn(root, 'keygen', 'acme');
  const before = await readFile(path.join(root, 'acme.pem'), 'utf8');
  assert.equal((await packIn(root, 'keygen', 'acme')).code, 2);
  assert.equal(await readFile(path.join(root, 'acme.pem'), 'utf8'), before);
  const { code, err } = await packIn(root, 'sign', folder, '--signing-key', 'acme.pub');
  assert.equal(code, 2);
  assert.match(err, /is not a private key/);
});

test('a private key inside the folder stops the pack', async (t) => {
  const folder = await scaffolded(t);
  await packIn(folder, 'keygen', 'acme');
  const { code, out } = await packIn(folder, 'sign', '.', '--signing-key', 'acme.pem');
  assert.equal(code, 1);
  assert.match(out, /^acme\.pem:1:1: error: A pack must not contain a private key/m);
});

test('what is no archive is refused in words', async (t) => {
  const root = await temporaryFolder(t);
  await writeFile(path.join(root, 'note.tgz'), 'not an archive');
  await writeFile(path.join(root, 'huge.tgz'), Buffer.alloc(11 * 1024 * 1024));
  for (const [file, reason] of [
    ['note.tgz', /gzip/],
    ['huge.tgz', /larger than an archive may be/],
    ['none.tgz', /There is no none\.tgz/],
  ] as const) {
    const { code, err } = await packIn(root, 'verify', file);
    assert.equal(code, 2);
    assert.match(err, reason);
  }
});
