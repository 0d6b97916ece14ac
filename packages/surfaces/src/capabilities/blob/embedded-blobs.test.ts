/** Objects in the data folder: the contract, the journal, crashes and quotas. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { OBJECT_OVERHEAD_BYTES } from '../../ports/blobs.ts';
import { blobContract, bytesOf } from '../../ports/blobs-contract.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { NOW, read, write } from '../../testing/calls.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { type EmbeddedBlobs, openEmbeddedBlobs } from './embedded-blobs.ts';

const QUOTA = 200_000;
const UPLOAD = join(import.meta.dirname, '../../testing/upload-forever.ts');

async function openIn(dataDir: string, quotaBytes: number) {
  const database = await openEmbeddedDatabase({ dataDir });
  const port = await openEmbeddedBlobs({
    database,
    dataDir,
    quotaBytes,
    links: { key: new Uint8Array(32).fill(3), publicUrl: () => 'http://host.test' },
  });
  return { port, database };
}

async function opened(t: { after(end: () => unknown): void }) {
  const folder = freshFolder();
  const world = await openIn(folder.path, QUOTA);
  t.after(async () => {
    await world.database.close();
    folder.remove();
  });
  return { ...world, files: join(folder.path, 'blobs') };
}

async function* bodyOf(bytes: Uint8Array) {
  yield bytes;
}

async function followed(
  port: EmbeddedBlobs,
  method: string,
  url: string,
  body: Uint8Array = new Uint8Array(),
) {
  try {
    const request = { method, url: url.replace('http://host.test', ''), body: bodyOf(body), now: Date.now() };
    const { status, body: answer } = await port.servePresigned(request);
    return { status, bytes: new Uint8Array(answer ? await buffer(answer) : []) };
  } catch (error) {
    if (error instanceof OpenwopError) return { status: error.status, bytes: new Uint8Array() };
    throw error;
  }
}

blobContract('embedded', async () => {
  const folder = freshFolder();
  const { port, database } = await openIn(folder.path, 10_000_000);
  return {
    port,
    follow: (method, url, body) => followed(port, method, url, body),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});

const object = (content: string, key = 'k') => ({
  bucket: 'artifacts',
  key,
  bytes: bytesOf(content),
  contentType: null,
});
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

describe('objects in the data folder', () => {
  test('the same invocation again changes nothing, and another with its id is refused', async (t) => {
    const { port, files } = await opened(t);
    const call = { id: 'call', method: 'blobStorage.put', input: 'one' };
    await port.put(object('one'), write('acme', call));
    await port.put(object('two'), write('acme'));
    assert.deepEqual(await port.put(object('one'), write('acme', call)), { sizeBytes: 3 });
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('two'));
    assert.deepEqual(await port.put(object('x'), write('acme', { ...call, input: 'x' })), { sizeBytes: 3 });
    await assert.rejects(port.put(object('x'), write('acme', { ...call, method: 'blobStorage.delete' })), {
      code: 'idempotency_key_mismatch',
    });
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('two'));
    assert.equal(filesIn(files).length, 1, 'what was put in vain leaves nothing');
    const removal = { id: 'removal' };
    assert.deepEqual(await port.delete(object(''), write('acme', removal)), { deleted: true });
    assert.deepEqual(await port.delete(object(''), write('acme', removal)), { deleted: true });
  });

  test('replaced and deleted content is gone at once; what is left of it goes with the sweep', async (t) => {
    const { port, files } = await opened(t);
    for (const content of ['one', 'two']) await port.put(object(content), write('acme'));
    await port.put(object('gone', 'other'), write('acme'));
    await port.delete(object('', 'other'), write('acme'));
    assert.equal(filesIn(files).length, 1);
    assert.equal(await port.sweep(NOW + 600_001), 2);
    assert.equal(filesIn(files).length, 1);
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('two'));
  });

  test('a tenant has its quota, and a replaced object makes room', async (t) => {
    const { port, files } = await opened(t);
    const large = (key: string) => ({ ...object('', key), bytes: new Uint8Array(150_000) });
    await port.put(large('a'), write('acme'));
    await assert.rejects(port.put(large('b'), write('acme')), { code: 'blob_quota_exhausted' });
    await port.put(large('a'), write('acme'));
    await port.put(large('b'), write('other'));
    await port.delete(large('a'), write('acme'));
    await port.put(large('b'), write('acme'));
    assert.equal(filesIn(files).length, 2, 'what was refused leaves nothing');
  });

  test('empty objects take room too', async (t) => {
    const folder = freshFolder();
    const { port, database } = await openIn(folder.path, 2 * OBJECT_OVERHEAD_BYTES);
    t.after(async () => {
      await database.close();
      folder.remove();
    });
    for (const key of ['a', 'b', 'b']) await port.put(object('', key), write('acme'));
    await assert.rejects(port.put(object('', 'c'), write('acme')), { code: 'blob_quota_exhausted' });
    await assert.rejects(port.put(object('x', 'b'), write('acme')), { code: 'blob_quota_exhausted' });
    await port.delete(object('', 'a'), write('acme'));
    await port.put(object('x', 'b'), write('acme'));
  });

  test('an upload that breaks off or is too large leaves nothing, and the object as it was', async (t) => {
    const { port, files } = await opened(t);
    await port.put(object('old'), write('acme'));
    const link = { bucket: 'artifacts', key: 'k', method: 'PUT', seconds: 60 } as const;
    const url = (await port.presign(link, read('acme', Date.now()))).replace('http://host.test', '');
    const upload = (body: AsyncIterable<Uint8Array>) =>
      port.servePresigned({ method: 'PUT', url, body, now: Date.now() });
    const broken = async function* () {
      yield new Uint8Array(1_000);
      throw new Error('ECONNRESET');
    };
    await assert.rejects(upload(broken()), { code: 'validation_error', message: /ended before/ });
    let sent = 0;
    const endless = async function* () {
      for (const mebibyte = new Uint8Array(1_048_576); ; sent++) yield mebibyte;
    };
    await assert.rejects(upload(endless()), { code: 'blob_object_too_large' });
    assert.equal(sent, 32, 'no more is read than may be');
    assert.equal(filesIn(files).length, 1);
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('old'));
  });

  test('a process that is killed amid an upload leaves the object as it was', async (t) => {
    const folder = freshFolder();
    t.after(folder.remove);
    const before = await openIn(folder.path, QUOTA);
    await before.port.put(object('old'), write('acme'));
    await before.database.close();
    const child = fork(UPLOAD, [folder.path, 'artifacts', 'k'], { execArgv: ['--no-warnings'] });
    const died = once(child, 'exit');
    await once(child, 'message');
    const files = join(folder.path, 'blobs');
    assert.equal(filesIn(files).length, 2, 'there is a part of it');
    child.kill('SIGKILL');
    await died;
    const { port, database } = await openIn(folder.path, QUOTA);
    t.after(() => database.close());
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('old'));
    assert.equal(filesIn(files).length, 1, 'the part is gone');
    await port.put(object('new'), write('acme'));
  });

  test('a crash between row and folder loses nothing; content without a row goes', async (t) => {
    const folder = freshFolder();
    t.after(folder.remove);
    const incoming = join(folder.path, 'blobs', 'incoming');
    const first = await openIn(folder.path, QUOTA);
    await first.database.close();
    const blob = { file: 'ab-named', bytes: 5, contentType: null };
    for (const name of [blob.file, 'cd-nobody']) writeFileSync(join(incoming, name), 'named');
    const { database } = await openIn(folder.path, QUOTA).catch((error) => assert.fail(error));
    assert.deepEqual(filesIn(join(folder.path, 'blobs')), [], 'no row names them yet');
    writeFileSync(join(incoming, blob.file), 'named');
    const target = { tenant: 'acme', bucket: 'artifacts', key: 'k' };
    await database.upkeep('blobs', 'put', target, blob, NOW, QUOTA);
    await database.close();
    const again = await openIn(folder.path, QUOTA);
    assert.deepEqual(readdirSync(incoming), []);
    assert.deepEqual((await again.port.get(object(''), read('acme')))?.bytes, bytesOf('named'));
    await again.database.close();
  });
});
