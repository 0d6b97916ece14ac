import assert from 'node:assert/strict';
import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import S3rver from 's3rver';
import { storageContract } from '../testing/storage-contract.ts';
import { temporaryFolder } from '../testing/test-registry.ts';
import { openFolderStorage } from './folder-storage.ts';
import { openStorage, readStorageSetting } from './open-storage.ts';
import { Spool } from './spool.ts';

const now = Date.now;

storageContract('a folder', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const storage = openFolderStorage({ folder: folder.path, now });
  await storage.start();
  return { storage, spooled: () => readdir(path.join(folder.path, 'spool')) };
});

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
let server: S3rver;
let endpoint: string;
let data: Awaited<ReturnType<typeof temporaryFolder>>;
let prefixes = 0;

before(async () => {
  Object.assign(process.env, CREDENTIALS);
  data = await temporaryFolder();
  server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: data.path,
    configureBuckets: [{ name: 'packs' }],
  });
  const { address, port } = await server.run();
  endpoint = `http://${address}:${port}`;
});

after(async () => {
  await server.close();
  await data.remove();
});

storageContract('a bucket', async (t) => {
  const folder = await temporaryFolder();
  const setting = readStorageSetting(`s3://packs/run-${++prefixes}`, endpoint);
  assert.ok(setting);
  const storage = openStorage(setting, { dataDir: folder.path, now });
  await storage.start();
  t.after(async () => {
    await storage.stop();
    await folder.remove();
  });
  return { storage, spooled: () => readdir(path.join(folder.path, 'spool')) };
});

test('settings name a folder or a bucket, and nothing else', () => {
  assert.deepEqual(readStorageSetting('./packs', undefined), { kind: 'folder', folder: './packs' });
  assert.deepEqual(readStorageSetting('s3://packs', undefined), { kind: 's3', bucket: 'packs', prefix: '' });
  assert.deepEqual(readStorageSetting('s3://packs/a/b/', 'http://minio:9000'), {
    kind: 's3',
    bucket: 'packs',
    prefix: 'a/b/',
    endpoint: 'http://minio:9000',
  });
  for (const odd of ['s3://', 's3://UPPER', 'ftp://packs', 'https://packs.example.org'])
    assert.equal(readStorageSetting(odd, undefined), undefined, odd);
});

test('temporary files of dead processes are removed, those of living ones are not', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const spool = new Spool(folder.path);
  await spool.clear(now());
  const own = await spool.write(
    (async function* () {
      yield Buffer.from('x');
    })(),
    10,
  );
  const machine = path.basename(own.path).split('-', 1)[0];
  const place = (name: string): string => path.join(folder.path, name);
  const dead = `${machine}-999999999-0.partial`;
  const living = `${machine}-${process.ppid}-0.partial`;
  const [foreign, foreignOld] = ['abcabcabcabc-1-0.partial', 'abcabcabcabc-2-0.partial'];
  for (const name of [dead, living, foreign, foreignOld, 'notes.txt']) await writeFile(place(name), 'x');
  const old = (now() - 2 * 3_600_000) / 1000;
  await utimes(place(foreignOld), old, old);
  await spool.clear(now());
  assert.deepEqual((await readdir(folder.path)).sort(), [foreign, living, 'notes.txt'].sort());
});

test('a folder that cannot be written says what to do', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const storage = openFolderStorage({ folder: folder.path, now });
  await storage.start();
  await rm(path.join(folder.path, 'spool'), { recursive: true });
  await assert.rejects(
    storage.spool((async function* () {})(), 10),
    /cannot be written\. Check that it is there and reachable/,
  );
});
