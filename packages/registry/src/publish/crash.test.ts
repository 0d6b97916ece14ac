/** What happens to a publish when the process ends in the middle of it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { openSqlite, type Store } from '@gantry/store';
import { pino } from 'pino';
import { ChangeLog, type Proposal } from '../catalogue/change-log.ts';
import { createRegistry } from '../registry.ts';
import { openFolderStorage } from '../storage/folder-storage.ts';
import { UNNAMED_AGE_MS } from '../storage/storage.ts';
import { madePack } from '../testing/packs.ts';
import { startRegistryProcess, upload } from '../testing/registry-process.ts';
import { storedIn, temporaryFolder } from '../testing/test-registry.ts';

const PATH = '/v1/packs/vendor.acme.tools/-/1.0.0.tgz';
const UNSIGNED = { GANTRY_REGISTRY_UNSIGNED: '1' };

/** Resolves once a temporary file is there. */
async function spooling(folder: string): Promise<void> {
  const spool = path.join(folder, 'spool');
  const watcher = watch(spool);
  try {
    await new Promise<void>((resolve) => {
      const look = async (): Promise<void> => {
        if ((await readdir(spool)).length > 0) resolve();
      };
      watcher.on('change', look);
      void look();
    });
  } finally {
    watcher.close();
  }
}

test('kill -9 half-way leaves nothing behind, and the version is free', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const archives = path.join(folder.path, 'packs');
  const bytes = await madePack({ files: { 'noise.bin': randomBytes(200_000) } });
  const first = await startRegistryProcess(folder.path, UNSIGNED);
  const half = upload(first.url, PATH);
  half.write(bytes.subarray(0, 100_000));
  await spooling(archives);
  await first.kill();
  assert.equal(await half.end(), 0);
  assert.equal((await storedIn(archives)).length, 1, 'the half archive is still there');

  const second = await startRegistryProcess(folder.path, UNSIGNED);
  t.after(() => second.kill());
  assert.deepEqual(await storedIn(archives), []);
  assert.equal((await fetch(second.url + PATH)).status, 404);
  assert.equal(await upload(second.url, PATH).end(bytes), 201);
  const served = await fetch(second.url + PATH);
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), bytes);
});

test('SIGTERM lets a publish under way finish', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const bytes = await madePack();
  const registry = await startRegistryProcess(folder.path, UNSIGNED);
  const half = upload(registry.url, PATH);
  half.write(bytes.subarray(0, 100));
  await spooling(path.join(folder.path, 'packs'));
  const stopped = registry.stop();
  assert.equal(await half.end(bytes.subarray(100)), 201);
  assert.equal(await stopped, 0);
  const again = await startRegistryProcess(folder.path, UNSIGNED);
  t.after(() => again.kill());
  assert.equal((await fetch(again.url + PATH)).status, 200, 'it is there after a restart');
});

test('dying between keeping the archive and naming it leaves what the sweep removes', async (t) => {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  let now = Date.now();
  const storage = openFolderStorage({ folder: path.join(folder.path, 'packs'), now: () => now });
  await storage.start();
  const archive = await storage.spool(Readable.from([Buffer.from('kept')]), 10);
  await archive.keep();
  const dying: Store = { ...store, commit: () => Promise.reject(new Error('the power went')) };
  const log = new ChangeLog({ store: dying, catalogue: 'packs', now: () => now });
  const propose = async (): Promise<Proposal<null>> => ({
    kind: 'change',
    change: { type: 'published', name: 'vendor.acme.tools', by: 'key_1' },
    writes: [],
    apply: () => assert.fail('it never won'),
    result: null,
  });
  await assert.rejects(log.write(propose), /the power went/);
  assert.equal(log.revision, 0);

  const policy = {
    name: 'test',
    publicUrl: () => '',
    acceptsUnsigned: true,
    acceptsPrivate: false,
    testNamespace: false,
  };
  const registry = createRegistry({ store, storage, policy, now: () => now, log: pino({ level: 'silent' }) });
  await registry.start();
  assert.deepEqual(registry.catalogue.summaries(), []);
  assert.equal(await storage.has(archive.integrity), true, 'it could be that of another process');
  now += UNNAMED_AGE_MS;
  assert.equal(await registry.sweep(), 1);
  await registry.stop();
});
