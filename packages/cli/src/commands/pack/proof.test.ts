import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { archiveOf, readArchive } from '@gantry/packs';
import { packIn, scaffolded, temporaryPlace } from './testing/pack-folder.ts';

test('what is signed verifies with its key, and with no other', async (t) => {
  const folder = await scaffolded(t);
  const stranger = await temporaryPlace(t);
  await packIn(stranger, 'keygen', 'acme-2026');
  const place = await temporaryPlace(t);
  await packIn(place, 'keygen', 'acme-2026');
  const key = await stat(path.join(place, 'acme-2026.pem'));
  assert.equal(key.mode & 0o077, 0, 'nobody else reads the private key');
  const archive = path.join(place, 'greeter.tgz');
  const own = await packIn(place, 'sign', folder, '--signing-key', 'acme-2026.pem', '--out', archive);
  assert.equal(own.code, 0, own.err);

  const right = await packIn(place, 'verify', archive, '--keys', 'acme-2026.pub');
  assert.equal(right.code, 0);
  assert.match(right.out, /signature {2}is right, by acme-2026/);
  const other = await packIn(place, 'verify', archive, '--keys', path.join(stranger, 'acme-2026.pub'));
  assert.equal(other.code, 1);
  assert.match(other.out, /signature {2}is wrong/);
  const unknown = await packIn(place, 'verify', archive);
  assert.equal(unknown.code, 1);
  assert.match(unknown.out, /cannot be verified: .*--keys/);
});

test('an archive is signed in place of its folder, and a changed manifest shows', async (t) => {
  const folder = await scaffolded(t);
  const place = await temporaryPlace(t);
  await packIn(place, 'keygen', 'acme');
  await packIn(place, 'build', folder, '--out', 'plain.tgz');
  await packIn(place, 'sign', 'plain.tgz', '--signing-key', 'acme.pem', '--out', 'signed.tgz');
  assert.equal((await packIn(place, 'verify', 'signed.tgz', '--keys', '.')).code, 0);

  const { files } = await readArchive(await readFile(path.join(place, 'signed.tgz')));
  const manifest = String(files.get('pack.json')).replace('Greets people.', 'Greets everyone.');
  const forged = await archiveOf(new Map([...files, ['pack.json', Buffer.from(manifest)]]));
  await writeFile(path.join(place, 'forged.tgz'), forged.bytes);
  const { code, out } = await packIn(place, 'verify', 'forged.tgz', '--keys', '.');
  assert.equal(code, 1);
  assert.match(out, /is wrong/);
});

test('an unsigned archive proves its integrity alone', async (t) => {
  const folder = await scaffolded(t);
  const place = await temporaryPlace(t);
  const built = await packIn(place, 'build', folder, '--out', 'plain.tgz', '--json');
  const { integrity } = JSON.parse(built.out);
  assert.equal((await packIn(place, 'verify', 'plain.tgz', '--integrity', integrity)).code, 0);
  const other = `sha256-${'A'.repeat(43)}=`;
  const differs = await packIn(place, 'verify', 'plain.tgz', '--integrity', other);
  assert.equal(differs.code, 1);
  assert.match(differs.out, /differs from/);
  await packIn(place, 'keygen', 'acme');
  const wanted = await packIn(place, 'verify', 'plain.tgz', '--keys', 'acme.pub');
  assert.equal(wanted.code, 1, 'whoever gives a key wants a signature');
});

test('keys are never written over, and only private keys sign', async (t) => {
  const folder = await scaffolded(t);
  const place = await temporaryPlace(t);
  await packIn(place, 'keygen', 'acme');
  const before = await readFile(path.join(place, 'acme.pem'), 'utf8');
  assert.equal((await packIn(place, 'keygen', 'acme')).code, 2);
  assert.equal(await readFile(path.join(place, 'acme.pem'), 'utf8'), before);
  const { code, err } = await packIn(place, 'sign', folder, '--signing-key', 'acme.pub');
  assert.equal(code, 2);
  assert.match(err, /is not a private key/);
});

test('a private key inside the folder stops the pack', async (t) => {
  const folder = await scaffolded(t);
  await packIn(folder, 'keygen', 'acme');
  const { code, out } = await packIn(folder, 'sign', '.', '--signing-key', 'acme.pem');
  assert.equal(code, 1);
  assert.match(out, /^acme\.pem:1:1: error: A private key is never part of a pack/m);
});

test('what is no archive is refused in words', async (t) => {
  const place = await temporaryPlace(t);
  await writeFile(path.join(place, 'note.tgz'), 'not an archive');
  await writeFile(path.join(place, 'huge.tgz'), Buffer.alloc(11 * 1024 * 1024));
  for (const [file, reason] of [
    ['note.tgz', /gzip/],
    ['huge.tgz', /larger than an archive may be/],
    ['none.tgz', /There is no none\.tgz/],
  ] as const) {
    const { code, err } = await packIn(place, 'verify', file);
    assert.equal(code, 2);
    assert.match(err, reason);
  }
});
