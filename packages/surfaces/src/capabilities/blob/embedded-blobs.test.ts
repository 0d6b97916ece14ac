/** Objects in the data folder: the contract, the journal, crashes and quotas. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LOADERS } from '../../../../protocol/src/testing/loaders.ts';
import { blobContract, bytesOf } from '../../ports/blobs-contract.ts';
import { followed, hostedBlobContract, object, TEST_LINKS } from '../../ports/hosted-blobs-contract.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { NOW, read, write } from '../../testing/calls.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openEmbeddedBlobs } from './embedded-blobs.ts';

const QUOTA = 200_000;
const UPLOAD = join(import.meta.dirname, '../../testing/upload-forever.ts');

async function openIn(dataDir: string, quotaBytes: number) {
  const database = await openEmbeddedDatabase({ dataDir });
  const port = await openEmbeddedBlobs({ database, dataDir, quotaBytes, links: TEST_LINKS });
  return { port, database };
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

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

hostedBlobContract('embedded', async (t, quotaBytes) => {
  const folder = freshFolder();
  const { port, database } = await openIn(folder.path, quotaBytes);
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  return {
    port,
    contents: async () => filesIn(join(folder.path, 'blobs')).length,
    sweep: (now) => port.sweep(now),
  };
});

describe('objects in the data folder', () => {
  test('a process that is killed amid an upload leaves the object as it was', async (t) => {
    const folder = freshFolder();
    t.after(folder.remove);
    const before = await openIn(folder.path, QUOTA);
    await before.port.put(object('old'), write('acme'));
    await before.database.close();
    const child = fork(UPLOAD, [folder.path, 'artifacts', 'k'], { execArgv: [...LOADERS, '--no-warnings'] });
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
