/** A host in a process of its own, on a PostgreSQL whose network fails. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { mulberry, openProxy, type PostgresProxy } from '../../store/src/testing/postgres-proxy.ts';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { node, workflow } from './testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const three = workflow('three', [node('a', 'core.noop'), node('b', 'core.noop'), node('c', 'core.noop')]);

interface Proxied {
  readonly host: HostProcess;
  readonly proxy: PostgresProxy;
  /** The status of a create, 0 when the host did not answer. */
  create(): Promise<number>;
}

async function proxied(t: TestContext): Promise<Proxied | null> {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return null;
  }
  const folder = await temporaryFolder();
  const proxy = await openProxy(database.url);
  await writeFile(path.join(folder.path, 'three.json'), JSON.stringify(three));
  const host = await startHostProcess({
    dataDir: path.join(folder.path, 'data'),
    workflowsDir: folder.path,
    env: { GANTRY_DATABASE_URL: proxy.url, GANTRY_STATEMENT_TIMEOUT_MS: '1500' },
  });
  t.after(async () => {
    await host.kill();
    await proxy.close();
    await database.drop();
    await folder.remove();
  });
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'three' });
  const create = (): Promise<number> =>
    fetch(`${host.url}/v1/runs`, { method: 'POST', headers, body }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
  return { host, proxy, create };
}

test('a host outlives connections that are cut at any moment, and serves again', async (t) => {
  const started = await proxied(t);
  if (!started) return;
  const { host, proxy, create } = started;
  const random = mulberry(1);
  const CUTS = 25;
  let cuts = 0;
  const cutting = async (): Promise<void> => {
    for (; cuts < CUTS; cuts++) {
      // Of connections made meanwhile, so that some are cut while they are set up
      const made = proxy.connectionsMade + Math.floor(random() * 6);
      for (let tries = 0; proxy.connectionsMade < made && tries < 50; tries++) await create();
      proxy.cut();
    }
  };
  const clients = Array.from({ length: 12 }, async () => {
    while (cuts < CUTS) await create();
  });
  await Promise.all([cutting(), ...clients]);
  assert.equal(host.child.exitCode, null);
  assert.equal(await create(), 201);
});
