/** Two registries on one database and one storage. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { madePack } from '../testing/packs.ts';
import { publish, type TestRegistry, temporaryFolder, testRegistry } from '../testing/test-registry.ts';

async function pair(t: TestContext): Promise<readonly [TestRegistry, TestRegistry] | undefined> {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return undefined;
  }
  const folder = await temporaryFolder();
  // Registered first, so that it runs last.
  const settings = {
    databaseUrl: database.url,
    acceptsUnsigned: true,
    storage: { kind: 'folder', folder: path.join(folder.path, 'packs') },
  } as const;
  const both = [await testRegistry(t, { settings }), await testRegistry(t, { settings })] as const;
  t.after(async () => {
    await database.drop();
    await folder.remove();
  });
  return both;
}

const version = async (registry: TestRegistry, text: string): Promise<number> => {
  const bytes = await madePack({ manifest: { version: text } });
  return (await publish(registry, { version: text, bytes })).statusCode;
};

/** Waits for a notice of the database, which arrives when it likes. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await isTrue())) {
    assert.ok(Date.now() < end, 'the other process never heard of it');
    await later(5);
  }
}

test('each hears what the other publishes, and none loses anything', async (t) => {
  const both = await pair(t);
  if (both === undefined) return;
  const [left, right] = both;
  const catalogue = right.server.registry.catalogue;
  assert.equal(await version(left, '1.0.0'), 201);
  await until(() => catalogue.summary('vendor.acme.tools')?.latest === '1.0.0');
  assert.equal((await right.request({ url: '/v1/packs/vendor.acme.tools/-/1.0.0.tgz' })).statusCode, 200);
  assert.equal(await version(right, '1.0.0'), 200);

  const numbers = Array.from({ length: 6 }, (_, index) => `2.${index}.0`);
  const statuses = await Promise.all(numbers.flatMap((text) => [version(left, text), version(right, text)]));
  assert.deepEqual(statuses.filter((status) => status === 201).length, numbers.length, String(statuses));
  assert.deepEqual(statuses.filter((status) => status === 200).length, numbers.length, String(statuses));
  for (const { server } of both) {
    await until(() => server.registry.catalogue.summary('vendor.acme.tools')?.versionCount === 7);
    assert.equal(server.registry.catalogue.revision, 7, 'a line for each version');
    assert.equal((await server.registry.catalogue.versions('vendor.acme.tools'))[0]?.version, '2.5.0');
  }

  const yank = {
    method: 'POST',
    url: '/v1/packs/vendor.acme.tools/-/2.5.0/yank',
    payload: { reason: 'x' },
  } as const;
  assert.equal((await left.request(yank)).statusCode, 200);
  await until(() => catalogue.summary('vendor.acme.tools')?.latest === '2.4.0');
  assert.ok((await catalogue.version('vendor.acme.tools', '2.5.0'))?.yank);
  const claims = '/v1/host/gantry/registry/claims';
  await left.request({ method: 'POST', url: claims, payload: { namespace: 'vendor.acme.*' } });
  await until(async () => (await right.request({ url: claims })).json().claims.length === 1);
});
