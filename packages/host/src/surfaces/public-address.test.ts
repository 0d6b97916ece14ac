/** Links that are made while a host starts lead to it. */

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { ownerOf } from '@gantry/protocol';
import { CommitPipeline, openSqlite } from '@gantry/store';
import { createHost, type Host } from '../host.ts';
import { InvocationLog } from '../runtime/invocation-log.ts';
import { readSettings, type Settings } from '../settings.ts';
import { TEST_KEY, temporaryFolder } from '../testing/host-process.ts';
import { PublicAddress } from './public-address.ts';

const PLACE = { bucket: 'artifacts', key: 'k' };
const PACK = { name: 'vendor.acme.work', version: '1.0.0' };

/** A host, and calls of the kind that a run makes which goes on while it starts. */
async function world(t: TestContext, more: Partial<Settings> = {}) {
  const folder = await temporaryFolder();
  const dataDir = `${folder.path}/data`;
  await mkdir(dataDir);
  const env = { GANTRY_ADMIN_KEY: TEST_KEY, GANTRY_LOG: 'silent', GANTRY_PORT: '0' };
  const store = await openSqlite({ dataDir });
  const own = { dataDir, workflowsDir: `${folder.path}/workflows` };
  const host = await createHost({ store, settings: { ...readSettings([], env), ...own, ...more } });
  t.after(async () => {
    await host.stop();
    await folder.remove();
  });
  const signal = AbortSignal.timeout(30_000);
  const members = host.services.surfaces.membersFor({
    owner: ownerOf({ tenant: 'default' }),
    nodeId: 'a',
    attempt: 0,
    peers: [],
    ordinalBase: 0,
    effect: 'effect',
    key: { tenant: 'default', runId: 'run' },
    pack: PACK,
    signal,
    log: new InvocationLog(new CommitPipeline(store), store.records, Date.now),
  });
  const call = async (method: string, input: object) => {
    const io = { dispatch: 0, ordinal: 0, signal, send: async () => {} };
    const answer = await members.call(`storage.blob.${method}`, [{ ...PLACE, ...input }], io);
    return (answer as { url: string }).url;
  };
  return { host, call };
}

/** Answers what `work` did, which begins when the services do. */
async function started<T>(host: Host, work: () => Promise<T>): Promise<{ origin: string; done: T }> {
  const { runtime } = host.services;
  const start = runtime.start.bind(runtime);
  let under: Promise<T> | undefined;
  Object.assign(runtime, {
    start() {
      under = work();
      return start();
    },
  });
  const origin = await host.start();
  return { origin, done: await (under ?? assert.fail('the services did not start')) };
}

const LINK = { method: 'GET', expiresInSeconds: 60 };

test('what is linked before the host listens leads to where it listens then', async (t) => {
  const { host, call } = await world(t);
  const { origin, done } = await started(host, async () => ({
    // First, since it touches no disk: nothing but the address holds it up
    get: await call('presign', LINK),
    put: await call('put', { bytes: new Uint8Array(Buffer.from('hi')) }),
  }));
  assert.equal(done.put, `${origin}/v1/host/gantry/blobs/artifacts/k`);
  assert.ok(done.get.startsWith(`${done.put}?`), done.get);
  assert.equal(await (await fetch(done.get)).text(), 'hi');
  assert.equal((await fetch(`${origin}/readyz`)).status, 200);
});

test('what the operator says stands, before and after', async (t) => {
  const { host, call } = await world(t, { publicUrl: 'https://gantry.example.org/base' });
  const { done } = await started(host, () => call('presign', LINK));
  for (const url of [done, await call('presign', LINK)])
    assert.match(url, /^https:\/\/gantry\.example\.org\/base\/v1\/host\/gantry\/blobs\/artifacts\/k\?/);
});

test('a host that cannot be opened leaves nobody waiting', async () => {
  const address = new PublicAddress(undefined);
  const { promise, reject } = Promise.withResolvers<string>();
  const opening = address.opened(() => promise);
  const known = address.known();
  reject(new Error('the port is in use'));
  await assert.rejects(opening, /in use/);
  assert.deepEqual([await known, address.url], ['', '']);
});
