/** Files in the data folder: the contract, and what others may have put there. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { FILES_CONTRACT_QUOTA, filesContract } from '../../../ports/files-contract.ts';
import { openEmbeddedDatabase } from '../../../sqlite/database.ts';
import { NOW, read, write } from '../../../testing/calls.ts';
import { freshFolder } from '../../../testing/data-dir.ts';
import { at, textAt, textOf } from '../../../testing/files-calls.ts';
import { explain } from './folder.ts';
import { type FilesOptions, openFiles } from './open-files.ts';

async function openIn(dataDir: string, room: Partial<Pick<FilesOptions, 'quotaBytes' | 'filesMax'>> = {}) {
  const database = await openEmbeddedDatabase({ dataDir });
  const port = await openFiles({
    database,
    dataDir,
    quotaBytes: FILES_CONTRACT_QUOTA,
    now: () => NOW,
    ...room,
  });
  return { database, port };
}

filesContract('data folder', async () => {
  const folder = freshFolder();
  const { port, database } = await openIn(folder.path);
  return {
    port,
    async close() {
      await database.close();
      folder.remove();
    },
  };
});

const SECRET = 'a secret of this machine';

/** The folder of one workspace with a file in it, and a folder outside with a secret. */
async function world(t: TestContext) {
  const folder = freshFolder();
  const outside = join(folder.path, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), SECRET);
  const { port, database } = await openIn(folder.path);
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  await port.write(textAt('d/f', 'ours'), write('acme'));
  const roots = join(folder.path, 'files', 'roots');
  return { port, database, outside, folder: folder.path, root: join(roots, readdirSync(roots)[0]!) };
}

type World = Awaited<ReturnType<typeof world>>;
const all = { workspace: 'main', prefix: '', after: null, limit: 100, recursive: true, hidden: true };

async function refusedEverywhere({ port }: World, path: string, code: string | RegExp): Promise<void> {
  const refused = (error: { code: string; message: string }): true => {
    assert.match(error.code, new RegExp(code));
    assert.doesNotMatch(error.message, /gantry-surfaces|roots|secret of/, 'nothing of this machine is told');
    return true;
  };
  await assert.rejects(port.read(at(path), read('acme')), refused);
  await assert.rejects(port.write(textAt(path, 'bad', 'append'), write('acme')), refused);
  await assert.rejects(port.write(textAt(path, 'bad'), write('acme')), refused);
  await assert.rejects(port.delete(at(path), write('acme')), refused);
  await assert.rejects(port.stat(at(path), read('acme')), refused);
}

describe('what others put into the folder', () => {
  test('links are not followed, wherever they lead', async (t) => {
    const found = await world(t);
    const { root, outside, port } = found;
    symlinkSync(join(outside, 'secret'), join(root, 'to-file'));
    symlinkSync(outside, join(root, 'to-folder'));
    symlinkSync('../../../outside/secret', join(root, 'd', 'relative'));
    symlinkSync('f', join(root, 'd', 'inside'));
    symlinkSync('nowhere', join(root, 'dangling'));
    symlinkSync('loop', join(root, 'loop'));
    symlinkSync('/proc/self/environ', join(root, 'environment'));
    for (const path of [
      'to-file',
      'to-folder/secret',
      'to-folder/new',
      'd/relative',
      'd/inside',
      'environment',
    ])
      await refusedEverywhere(found, path, 'path_outside_sandbox');
    for (const path of ['dangling', 'loop', 'loop/a', 'to-folder'])
      await refusedEverywhere(found, path, 'path_outside_sandbox');
    assert.deepEqual(await port.list(all, read('acme')), [{ path: 'd/f', sizeBytes: 4, isDirectory: false }]);
    await assert.rejects(port.list({ ...all, prefix: 'to-folder/' }, read('acme')), {
      code: 'path_outside_sandbox',
    });
    assert.deepEqual(readdirSync(outside), ['secret']);
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), SECRET);
  });

  test('a file with a second name somewhere else is not served', async (t) => {
    const found = await world(t);
    for (const name of ['a1', 'a2', 'hard']) linkSync(join(found.outside, 'secret'), join(found.root, name));
    await refusedEverywhere(found, 'hard', 'path_outside_sandbox');
    assert.equal(readFileSync(join(found.outside, 'secret'), 'utf8'), SECRET);
    for (const limit of [1, 2, 100])
      assert.equal((await found.port.list({ ...all, limit }, read('acme')))[0]?.path, 'd/f');
    assert.equal((await found.port.list(all, read('acme'))).length, 1);
  });

  test('special files are neither opened nor waited for', async (t) => {
    const found = await world(t);
    execFileSync('mkfifo', [join(found.root, 'pipe')]);
    const server = createServer().listen(join(found.root, 'socket'));
    t.after(() => new Promise((resolve) => server.close(resolve)));
    await new Promise((resolve) => server.once('listening', resolve));
    for (const path of ['pipe', 'socket']) await refusedEverywhere(found, path, 'fs_permission_denied');
    assert.equal((await found.port.list(all, read('acme'))).length, 1);
  });

  test('what the system says is told without its paths', () => {
    const said = (code: string) =>
      explain(Object.assign(new Error(`${code}: /data/roots/x`), { code }), 'a/b') as Error & {
        code: string;
      };
    for (const [code, told] of [
      ['EACCES', 'fs_permission_denied'],
      ['EPERM', 'fs_permission_denied'],
      ['EROFS', 'fs_permission_denied'],
      ['EXDEV', 'fs_permission_denied'],
      ['ENAMETOOLONG', 'path_outside_sandbox'],
      ['ENOSPC', 'storage_unavailable'],
      ['EMFILE', 'storage_unavailable'],
    ] as const) {
      assert.equal(said(code).code, told);
      assert.doesNotMatch(said(code).message, /roots/);
    }
  });

  test('what cannot be read by this host is said, not left out', async (t) => {
    const { port } = await world(t);
    await port.write(textAt('d/closed/f', 'x'), write('acme'));
    const closed = Object.assign(new Error('EACCES: /data/roots/x'), { code: 'EACCES' });
    const failing = (path: unknown) => String(path).endsWith('/closed');
    const { open } = fsPromises;
    t.mock.method(fsPromises, 'open', (path: string, ...more: [number]) =>
      failing(path) ? Promise.reject(closed) : open(path, ...more),
    );
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const denied = { code: 'fs_permission_denied', message: /"d\/closed\/" cannot be read by this host/ };
    await assert.rejects(port.list(all, read('acme')), denied);
    await assert.rejects(port.list({ ...all, prefix: 'd/' }, read('acme')), denied);
    const flat = await port.list({ ...all, prefix: 'd/', recursive: false }, read('acme'));
    assert.deepEqual(
      flat.map(({ path }) => path),
      ['d/closed/', 'd/f'],
    );
  });

  test('names that cannot be asked for are not listed', async (t) => {
    const { port, root } = await world(t);
    for (const name of ['a:b', 'c\\d', 'con', ' e']) writeFileSync(join(root, name), 'x');
    assert.deepEqual(
      (await port.list(all, read('acme'))).map(({ path }) => path),
      ['d/f'],
    );
  });
});

describe('races', {
  skip: process.platform !== 'linux' && 'only Linux looks names up below an open folder',
}, () => {
  test('a folder that becomes a link and back lets nothing in or out', async (t) => {
    const { port, root, outside } = await world(t);
    writeFileSync(join(outside, 'f'), SECRET);
    symlinkSync(outside, join(root, 'link'));
    const [folder, link, aside] = ['d', 'link', 'aside'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    /** Between two renames there is nothing, and a write may make a folder there. */
    const put = (from: string, to: string): void => {
      try {
        renameSync(from, to);
      } catch {
        rmSync(to, { recursive: true, force: true });
        put(from, to);
      }
    };
    let swaps = 0;
    const swap = (): void => {
      put(folder, aside);
      put(link, folder);
      put(aside, link);
      swaps++;
    };
    const tries = Array.from({ length: 150 }, async (_, index) => {
      const read_ = port.read(at('d/f'), read('acme')).then(textOf, ({ code }) => String(code));
      const written = port.write(textAt(`d/new-${index}`, 'x'), write('acme')).then(
        () => 'x',
        ({ code }) => String(code),
      );
      return Promise.all([read_, written]);
    });
    const swapping = setInterval(swap, 0);
    const outcomes = (await Promise.all(tries)).flat();
    clearInterval(swapping);
    assert.ok(swaps > 3, 'there was something to race with');
    const kinds = [...new Set(outcomes)].sort();
    const allowed = ['file_not_found', 'ours', 'path_outside_sandbox', 'x'];
    assert.deepEqual(
      kinds.filter((kind) => !allowed.includes(kind)),
      [],
    );
    assert.deepEqual(readdirSync(outside).sort(), ['f', 'secret'], 'nothing was written outside');
  });
});

describe('a crash', () => {
  const ROOM = { bytesMax: 10_000, filesMax: 10 };
  const change = (kind: 'write' | 'delete', invocation: string, staged: string) => ({
    tenant: 'acme',
    invocation,
    method: 'test.write',
    workspace: 'main',
    path: 'd/f',
    kind,
    staged,
    fingerprint: write('acme').invocation.fingerprint,
    bytes: 3,
    contentType: null,
  });

  test('between note and rename is made up for at the next start, once', async (t) => {
    const { database, folder, root } = await world(t);
    writeFileSync(join(folder, 'files', 'staged', 's'), 'new');
    writeFileSync(join(folder, 'files', 'staged', 'nobody'), 'left over');
    await database.upkeep('files', 'begin', change('write', 'lost', 's'), ROOM);
    for (const _ of [1, 2]) {
      const again = await openIn(folder);
      assert.equal(readFileSync(join(root, 'd', 'f'), 'utf8'), 'new');
      assert.deepEqual(readdirSync(join(folder, 'files', 'staged')), []);
      const repeated = await again.port.write(textAt('d/f', 'new', 'append'), write('acme', { id: 'lost' }));
      assert.deepEqual(repeated, { path: 'd/f', sizeBytes: 3 });
      await again.database.close();
    }
    assert.equal(readFileSync(join(root, 'd', 'f'), 'utf8'), 'new');
  });

  test('after the rename is only put on record', async (t) => {
    const { database, folder, root, port } = await world(t);
    await database.upkeep('files', 'begin', change('write', 'done', 'gone'), ROOM);
    await openIn(folder).then((again) => again.database.close());
    assert.equal(readFileSync(join(root, 'd', 'f'), 'utf8'), 'ours');
    assert.equal((await port.write(textAt('d/f', 'x'), write('acme', { id: 'done' }))).sizeBytes, 3);
  });

  test('in a deletion deletes, and what came after it stays', async (t) => {
    const { database, folder, port, root } = await world(t);
    await database.upkeep('files', 'begin', change('delete', 'removal', 's'), ROOM);
    await openIn(folder).then((again) => again.database.close());
    assert.deepEqual(readdirSync(root), []);
    await port.write(textAt('d/f', 'later'), write('acme'));
    assert.deepEqual(await port.delete(at('d/f'), write('acme', { id: 'removal' })), { deleted: true });
    assert.equal(textOf(await port.read(at('d/f'), read('acme'))), 'later');
  });

  test('whose folder is now a link is given up', async (t) => {
    const { database, folder, root, outside, port } = await world(t);
    writeFileSync(join(folder, 'files', 'staged', 's'), 'bad');
    await database.upkeep('files', 'begin', change('write', 'late', 's'), ROOM);
    renameSync(join(root, 'd'), join(root, 'was'));
    symlinkSync(outside, join(root, 'd'));
    await openIn(folder).then((again) => again.database.close());
    assert.deepEqual(readdirSync(outside), ['secret']);
    await assert.rejects(port.write(textAt('d/f', 'bad'), write('acme', { id: 'late' })), {
      code: 'path_outside_sandbox',
    });
  });
});
