/** A host in a process of its own, on a PostgreSQL whose network fails. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { mulberry, openProxy, type PostgresProxy } from '../../store/src/testing/postgres-proxy.ts';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { apiTest } from './api/testing/api-test.ts';
import { node, workflow } from './testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const HEADERS = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' };
const three = workflow('three', [node('a', 'core.noop'), node('b', 'core.noop'), node('c', 'core.noop')]);

/** `npm run soak -- proxy` makes more. */
const CUTS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 10);

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
    env: { GANTRY_DATABASE_URL: proxy.url, GANTRY_DATABASE_TIMEOUT_SECONDS: '1' },
  });
  t.after(async () => {
    await host.kill();
    await proxy.close();
    await database.drop();
    await folder.remove();
  });
  const body = JSON.stringify({ workflowId: 'three' });
  const create = (): Promise<number> =>
    fetch(`${host.url}/v1/runs`, { method: 'POST', headers: HEADERS, body }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
  return { host, proxy, create };
}

test('a host outlives connections that are cut or fall silent, says so, and ends when told', async (t) => {
  const started = await proxied(t);
  if (!started) return;
  const { host, proxy, create } = started;
  const random = mulberry(1);
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
  const metrics = await fetch(`${host.url}/v1/host/gantry/metrics`, { headers: HEADERS });
  assert.match(await metrics.text(), /^gantry_unhandled_rejections_total 0$/m);

  // Connections that fall silent are found out, one after the other; new ones work
  assert.ok(proxy.silence() > 0);
  for (let answer = 0; answer !== 201; answer = await create())
    assert.ok([0, 503].includes(answer) && host.child.exitCode === null, `${answer}`);

  proxy.silenceAll(true);
  const ready = () => fetch(`${host.url}/readyz`).then(({ status }) => status);
  while ((await ready()) === 200) await setTimeout(200);
  assert.equal(await ready(), 503);
  const [code] = await Promise.all([host.stop(), create()]);
  assert.notEqual(code, null);
});

test('a reader is told of events although the connection for notices has fallen silent', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const proxy = await openProxy(database.url);
  const lease = { ttlMs: 3_000, renewEveryMs: 1_000 };
  const settings = { databaseUrl: database.url, masterKey: 'b'.repeat(64) };
  const writer = await apiTest(t, { lease, settings });
  const reader = await apiTest(t, { lease, settings: { ...settings, databaseUrl: proxy.url } });
  t.after(() => proxy.close());
  t.after(database.drop);
  const runId = await writer.start('slow');
  const { lastEventSeq } = (await reader.get(`/v1/runs/${runId}/events/poll`)).json();
  const url = `/v1/runs/${runId}/events/poll?lastSequence=${lastEventSeq}&timeout=60`;
  const waiting = reader.get(url);
  assert.ok(proxy.silence(/^listen "gantry_changes"/) > 0);
  const beganMs = performance.now();
  assert.equal((await writer.post(`/v1/runs/${runId}/cancel`, {})).statusCode, 200);
  assert.equal((await waiting).json().isTerminal, true);
  assert.ok(performance.now() - beganMs < 30_000, 'it was told before it gave up waiting');
});
