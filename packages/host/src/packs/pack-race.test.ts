/** A removal beside an install that depends on the removed pack: one of them is decided again. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import type { TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { type RegistryFolder, registryFolder } from './testing/registry-folder.ts';

const BASE = 'vendor.acme.base';
const TOP = 'vendor.acme.top';
const ROUNDS = 12;

const pack = (name: string, manifest = {}): TestPack => ({
  name,
  version: '1.0.0',
  nodes: { [`${name}.work`]: { body: 'return {};' } },
  manifest,
});
const base = pack(BASE);
const top = pack(TOP, { dependencies: { [BASE]: '^1.0.0' } });

const removed = async (api: PackTest, name: string): Promise<number> =>
  (await api.request({ method: 'DELETE', url: `${PACKS_URL}/${name}` })).statusCode;

const namesIn = async (api: PackTest): Promise<string[]> =>
  (await api.get(PACKS_URL))
    .json()
    .packs.map(({ name }: { name: string }) => name)
    .sort();

/** A registry over HTTP. The first request for the archive of the pack runs `meanwhile` before its answer. */
async function pausedRegistry(t: TestContext, folder: RegistryFolder, meanwhile: () => Promise<void>) {
  let isFirst = true;
  const server = createServer(async (request, response) => {
    if (isFirst && request.url?.endsWith(`${TOP}/-/1.0.0.tgz`)) {
      isFirst = false;
      await meanwhile();
    }
    readFile(`${folder.path}${request.url}`).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Two hosts on one database, or twice the same host, as SQLite serves one process. */
async function hostsOf(
  t: TestContext,
  database: string,
  settings = {},
): Promise<[PackTest, PackTest] | null> {
  if (database === 'SQLite') {
    const api = await packTest(t, { settings });
    return [api, api];
  }
  const fresh = await freshDatabase();
  if ('skip' in fresh) {
    t.skip(fresh.skip);
    return null;
  }
  const open = () =>
    packTest(t, { settings: { ...settings, databaseUrl: fresh.url, masterKey: 'b'.repeat(64) } });
  const hosts: [PackTest, PackTest] = [await open(), await open()];
  t.after(fresh.drop);
  return hosts;
}

for (const database of ['SQLite', 'PostgreSQL']) {
  test(`a pack that is removed during an install is installed again with it (${database})`, async (t) => {
    const folder = await registryFolder(t);
    await folder.publish(base);
    await folder.publish(top);
    const answers: number[] = [];
    const url = await pausedRegistry(t, folder, async () => {
      answers.push(await removed(hosts![1], BASE));
    });
    const hosts = await hostsOf(t, database, { registries: [url] });
    if (!hosts) return;
    const [first] = hosts;
    await first.post(PACKS_URL, { name: BASE });
    answers.push((await first.post(PACKS_URL, { name: TOP })).statusCode);
    assert.deepEqual(answers, [204, 201]);
    assert.deepEqual(await namesIn(first), [BASE, TOP]);
  });

  test(`either the removal or the install that depends on it wins (${database})`, async (t) => {
    const folder = await registryFolder(t);
    await folder.publish(top);
    const hosts = await hostsOf(t, database, { registries: [folder.path] });
    if (!hosts) return;
    const [first, second] = hosts;
    for (let round = 0; round < ROUNDS; round++) {
      await first.install(base);
      const [installed, removal] = await Promise.all([
        first.post(PACKS_URL, { name: TOP }),
        removed(second, BASE),
      ]);
      const outcome = [installed.statusCode, removal, ...(await namesIn(first))];
      const isInstalled = installed.statusCode === 201;
      assert.deepEqual(outcome, isInstalled ? [201, 409, BASE, TOP] : [404, 204], installed.body);
      if (isInstalled) for (const name of [TOP, BASE]) assert.equal(await removed(first, name), 204);
    }
  });
}
