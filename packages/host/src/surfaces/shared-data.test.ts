/** Two hosts on one PostgreSQL: what packs store through one is there through the other, without a setting for it. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { BackendHealth, JsonObject } from '@gantry/protocol';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { caller, until } from '../packs/testing/host-lives.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from '../testing/host-process.ts';

const WRITE = `
  await ctx.storage.kv.put({ key: 'a', value: 'kv' });
  await ctx.storage.cache.put({ key: 'a', value: 'cache', ttlSeconds: 600 });
  await ctx.storage.table.insert({ table: 't', row: { id: 'r', value: 'documents' } });
  await ctx.queueBus.publish({ topic: 'q', payload: 'queue' });
  await ctx.db.search.index({ index: 'i', docs: [{ id: 'search', fields: { text: 'lighthouse keeper' } }] });
  await ctx.db.vector.upsert({ collection: 'v', vectors: [{ id: 'vectors', embedding: [1, 0] }] });
  const bytes = new Uint8Array(2_500_000).fill(7);
  await ctx.storage.blob.put({ bucket: 'artifacts', key: 'o', bytes });
  const { url } = await ctx.storage.blob.presign({ bucket: 'artifacts', key: 'o', method: 'GET', expiresInSeconds: 600 });
  return { url };`;
const READ = `
  const { messages } = await ctx.queueBus.consume({ topic: 'q' });
  const { bytes } = await ctx.storage.blob.get({ bucket: 'artifacts', key: 'o' });
  return {
    kv: (await ctx.storage.kv.get({ key: 'a' })).value,
    cache: (await ctx.storage.cache.get({ key: 'a' })).value,
    documents: (await ctx.storage.table.query({ table: 't' })).rows[0].value,
    queue: messages[0].payload,
    search: (await ctx.db.search.query({ index: 'i', q: 'lighthouse' })).hits[0].id,
    vectors: (await ctx.db.vector.query({ collection: 'v', embedding: [1, 0], k: 1 })).matches[0].id,
    blobs: bytes.every((byte) => byte === 7) ? bytes.byteLength : 'other bytes',
  };`;

const PEERS = ['kvStorage', 'cache', 'tableStorage', 'queueBus', 'searchIndex', 'vectorStore', 'blobStorage'];
const nodes = {
  'vendor.acme.write': { body: WRITE, role: 'side-effect' },
  'vendor.acme.read': { body: READ, role: 'side-effect' },
};
const PACK = {
  nodes,
  manifest: { peerDependencies: Object.fromEntries(PEERS.map((name) => [name, 'supported'])) },
};
const FLOWS = ['write', 'read'].map((name) => workflow(name, [node('a', `vendor.acme.${name}`)]));

test('a pack writes through one host and reads through another, to every port', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const folder = await temporaryFolder();
  const workflowsDir = `${folder.path}/workflows`;
  await mkdir(workflowsDir);
  const env = {
    GANTRY_DATABASE_URL: database.url,
    GANTRY_MASTER_KEY: 'one-key-for-every-process-of-this-database',
  };
  const hosts: HostProcess[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((host) => host.kill()));
    await database.drop();
    await folder.remove();
  });
  const open = async (name: string) => {
    const host = await startHostProcess({
      dataDir: `${folder.path}/${name}`,
      workflowsDir,
      env,
      log: 'warn',
    });
    hosts.push(host);
    return { ...caller(host.url), ...host };
  };
  const one = await open('one');
  assert.deepEqual(
    await warnedOf(one.url),
    ['vectorStore'],
    'there is no pgvector, and nobody to share with',
  );
  const two = await open('two');
  await untilLine(two, /fs: GANTRY_DATA_DIR: its data is in the data folder of this process; 1 more/);

  await one.install([PACK], FLOWS);
  const { url } = await outputsOf(one, 'write');
  assert.deepEqual(await outputsOf(two, 'read'), {
    kv: 'kv',
    cache: 'cache',
    documents: 'documents',
    queue: 'queue',
    search: 'search',
    vectors: 'vectors',
    blobs: 2_500_000,
  });
  const answer = await fetch(String(url).replace(one.url, two.url));
  assert.deepEqual([answer.status, (await answer.arrayBuffer()).byteLength], [200, 2_500_000]);
  for (const { url } of [one, two]) {
    // What was well is taken to be for 5 s
    while (!(await warnedOf(url)).includes('fs')) await setTimeout(250);
    assert.deepEqual(await warnedOf(url), ['fs', 'sql', 'vectorStore']);
  }
});

/** The capabilities whose backend has a warning. */
async function warnedOf(url: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const answer = await fetch(`${url}/v1/host/gantry/surfaces`, { headers });
  const { backends } = (await answer.json()) as { backends: BackendHealth[] };
  return backends
    .filter((each) => each.state === 'up' && each.warning !== undefined)
    .map(({ capability }) => capability)
    .sort();
}

async function outputsOf(host: ReturnType<typeof caller>, workflowId: string): Promise<JsonObject> {
  const events = await until(host.poll(await host.start(workflowId)), (_, ended) => ended);
  const last = events.at(-1)!;
  assert.equal(last.type, 'run.completed', JSON.stringify(last));
  return (last.payload as { outputs: JsonObject }).outputs;
}

async function untilLine({ child }: HostProcess, wanted: RegExp): Promise<void> {
  for await (const line of createInterface(child.stdout!)) if (wanted.test(line)) return;
  assert.fail(`the host said nothing like ${wanted}`);
}
