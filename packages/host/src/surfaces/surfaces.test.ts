/** Pack code stores things; links, health and discovery tell of it. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { BackendHealth, JsonObject } from '@gantry/protocol';
import { assertError, assertPublic } from '../api/testing/api-test.ts';
import { type PackTest, packTest, sharedPackTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';

const TYPE = 'vendor.acme.work';

async function ran(api: PackTest, body: string, peers: readonly string[] = []): Promise<JsonObject> {
  const peerDependencies = Object.fromEntries(peers.map((name) => [name, 'supported']));
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } }, manifest: { peerDependencies } });
  await api.registered(workflow('one', [node('a', TYPE)]));
  const run = await api.ended(await api.start('one'));
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  return run.outputs as JsonObject;
}

const openPacks = onePerFile(sharedPackTest);

test('everything that discovery says can be used, under every name', async () => {
  const api = await openPacks();
  const discovery = (await api.get('/.well-known/openwop')).json();
  assertPublic('capabilities.schema.json', discovery);
  const names = [
    'kvStorage',
    'cache',
    'tableStorage',
    'nosql',
    'sql',
    'vectorStore',
    'searchIndex',
    'queueBus',
    'blobStorage',
    'fs',
  ];
  for (const name of names) {
    assert.equal(discovery[name].supported, true, name);
    assert.ok(discovery.sandbox.allowedHostCalls.includes(`host.${name}`), name);
  }
  const body = `
    await ctx.storage.kv.put({ key: 'a', value: 1 });
    await ctx.storage.table.insert({ table: 't', row: { n: 2 } });
    const { id } = await ctx.db.nosql.insert({ datasourceId: 'primary', collection: 'c', doc: { n: 3 } });
    await ctx.db.sql.execute({ datasourceId: 'primary', sql: 'create table x (n integer)', params: [] });
    await ctx.db.sql.execute({ datasourceId: 'primary', sql: 'insert into x values (?)', params: [4] });
    await ctx.db.vector.upsert({ collection: 'v', vectors: [{ id: 'five', embedding: [1, 0, 0] }] });
    await ctx.db.search.index({ index: 'i', docs: [{ id: 'six', fields: { text: 'lighthouse keeper' } }] });
    await ctx.queueBus.publish({ topic: 'q', payload: 7 });
    await ctx.fs.write({ path: 'eight.txt', content: 'OA==' });
    const { messages } = await ctx.queueBus.consume({ topic: 'q' });
    return {
      kv: (await ctx.storage.kv.get({ key: 'a' })).value,
      table: (await ctx.storage.table.query({ table: 't' })).rows[0].n,
      nosql: (await ctx.db.nosql.get({ datasourceId: 'primary', collection: 'c', id })).doc.n,
      sql: (await ctx.db.sql.query({ datasourceId: 'primary', sql: 'select n from x', params: [] })).rows[0].n,
      vector: (await ctx.db.vector.query({ collection: 'v', embedding: [1, 0, 0], k: 1 })).matches[0].id,
      search: (await ctx.db.search.query({ index: 'i', q: 'lighthouse' })).hits[0].id,
      queue: messages[0].payload,
      fs: (await ctx.fs.stat({ path: 'eight.txt' })).sizeBytes,
    };`;
  assert.deepEqual(await ran(api, body, [...names, 'host.kvStorage']), {
    kv: 1,
    table: 2,
    nosql: 3,
    sql: 4,
    vector: 'five',
    search: 'six',
    queue: 7,
    fs: 1,
  });
});

test('a pack that names surfaces may call those, by whatever name, and no others', async () => {
  const api = await openPacks();
  const codeOf = (call: string) => `await ctx.${call}.then(() => 'done', ({ code }) => code)`;
  const outputs = await ran(
    api,
    `return {
      kv: ${codeOf("storage.kv.put({ key: 'a', value: 1 })")},
      spelled: ${codeOf("storage.kv.get({ key: 'a' })")},
      cache: ${codeOf("storage.cache.put({ key: 'a', value: 1, ttlSeconds: 9 })")},
      soft: [typeof ctx.storage.table?.query, typeof ctx.db?.sql?.query, 'callAI' in ctx],
    };`,
    ['kvStorage.atomicIncrement', 'host.cache'],
  );
  const soft = ['undefined', 'undefined', false];
  assert.deepEqual(outputs, { kv: 'done', spelled: 'done', cache: 'done', soft });
});

test('what this host lacks is missing, and what the pack did not declare is denied', async () => {
  const api = await openPacks();
  const cases = {
    'vendor.acme.method': ['ctx.storage.kv.rename({})', 'host_capability_missing', 'host.kvStorage.rename'],
    'vendor.acme.surface': [
      'ctx.storage.graph.query({})',
      'host_capability_missing',
      'host.storage.graph.query',
    ],
    'vendor.acme.undeclared': [
      "ctx.storage.table.query({ table: 't' })",
      'sandbox_capability_denied',
      'host.tableStorage.query',
    ],
    'vendor.acme.apart': [
      "(({ storage: { table } }) => table.query({ table: 't' }))(ctx)",
      'sandbox_capability_denied',
      'host.tableStorage.query',
    ],
  };
  const nodes = Object.entries(cases).map(([type, [call]]) => [
    type,
    { body: `await ${call};`, role: 'side-effect' },
  ]);
  const manifest = { peerDependencies: { 'host.kvStorage': 'supported' } };
  await api.install({ nodes: Object.fromEntries(nodes), manifest });
  for (const [type, [, code, capability]] of Object.entries(cases)) {
    const id = type.slice('vendor.acme.'.length);
    await api.registered(workflow(id, [node('a', type)]));
    const run = await api.ended(await api.start(id));
    const error = run.error as { code: string; message: string; details: JsonObject };
    const { capability: missing, requestedCapability: denied } = error.details;
    assert.deepEqual([error.code, missing ?? denied], [code, capability]);
    const advice = /add host\.tableStorage to peerDependencies.* gantry pack grant \S+ host\.tableStorage,/;
    assert.equal(advice.test(error.message), code === 'sandbox_capability_denied', error.message);
  }
});

test('a link to an object works without a key, for what it says, until its time', async () => {
  const api = await openPacks();
  const { get, put } = (await ran(
    api,
    `const place = { bucket: 'artifacts', key: 'a/ü 1.txt' };
     const link = { ...place, expiresInSeconds: 60 };
     await ctx.storage.blob.put({ ...place, bytes: new Uint8Array([104, 105]), contentType: 'text/plain' });
     return {
       get: (await ctx.storage.blob.presign({ ...link, method: 'GET' })).url,
       put: (await ctx.storage.blob.presign({ ...link, method: 'PUT' })).url,
     };`,
  )) as { get: string; put: string };
  const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/, '');
  const headers = { authorization: '' };
  const asked = (method: 'GET' | 'PUT', url: string, payload?: string) =>
    api.host.app.inject({ method, url: pathOf(url), headers, ...(payload && { payload }) });
  const read = await asked('GET', get);
  assert.deepEqual([read.statusCode, read.body, read.headers['content-type']], [200, 'hi', 'text/plain']);
  assert.equal((await asked('PUT', put, 'new')).statusCode, 200);
  assert.equal((await asked('GET', get)).body, 'new');
  assertError(await asked('PUT', get, 'x'), 403, 'forbidden');
  assertError(await asked('GET', get.replace('a/', 'b/')), 403, 'forbidden');
});

test('the operator sees which backend keeps what', async () => {
  const api = await openPacks();
  const { backends } = (await api.get('/v1/host/gantry/surfaces')).json();
  const families = (await api.get('/.well-known/openwop')).json();
  for (const { capability, state } of backends)
    assert.deepEqual([families[capability]?.supported, state], [true, 'up'], capability);
  const names = backends.map(({ capability }: BackendHealth) => capability);
  assert.deepEqual(names.sort(), [
    'blobStorage',
    'cache',
    'fs',
    'kvStorage',
    'nosql',
    'queueBus',
    'searchIndex',
    'sql',
    'tableStorage',
    'vectorStore',
  ]);
});

test('a data folder that takes nothing is a problem before a pack meets it', async (t) => {
  const api = await packTest(t);
  const blobs = path.join(api.dataDir, 'blobs');
  rmSync(blobs, { recursive: true, force: true });
  writeFileSync(blobs, 'no folder');
  const { backends } = (await api.get('/v1/host/gantry/surfaces')).json();
  const problems = backends.filter(({ state }: BackendHealth) => state !== 'up');
  assert.deepEqual(
    problems.map(({ capability, state }: BackendHealth) => [capability, state]),
    [['blobStorage', 'rejected']],
  );
  assert.match(
    problems[0].problem,
    /^GANTRY_DATA_DIR: "blobs" in the data folder cannot be written \(E\w+\)/,
  );
});

test('calls are counted by method and outcome, with how long they took', async (t) => {
  const api = await packTest(t);
  const body = `
    await ctx.storage.kv.put({ key: 'a', value: 1 });
    await ctx.storage.kv.put({ key: 'b', value: 1 });
    await ctx.fs.read({ path: '../../etc/passwd' }).catch(() => {});
    return {};`;
  await ran(api, body);
  const { statusCode, headers, body: text } = await api.get('/v1/host/gantry/metrics');
  assert.deepEqual([statusCode, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  const lines = text.split('\n');
  const counted = (method: string, outcome: string) => {
    const [provider, name] = method.split('.');
    const labels = `provider="${provider}",method="${name}",outcome="${outcome}"`;
    const count = lines.find((line) => line.startsWith(`openwop_activity_invocations_total{${labels}} `));
    const all = lines.find((line) => line.includes(`_bucket{${labels},le="+Inf"} `));
    assert.equal(all?.split(' ').at(-1), count?.split(' ').at(-1));
    return Number(count?.split(' ').at(-1) ?? 0);
  };
  assert.equal(counted('kvStorage.put', 'ok'), 2);
  assert.equal(counted('fs.read', 'path_outside_sandbox'), 1);
  for (const [state, count] of Object.entries({ up: 1, unreachable: 0, rejected: 0 })) {
    const labels = `capability="kvStorage",backend="embedded",state="${state}"`;
    assert.ok(lines.includes(`gantry_backends{${labels}} ${count}`), state);
  }
  assert.doesNotMatch(text, /passwd|run_|acme/);
  assertError(await api.get('/v1/host/gantry/metrics', { authorization: '' }), 401, 'unauthenticated');
});

test('a tenant of the host hears nothing of its servers and its other tenants', async (t) => {
  const settings = { backends: { kv: 'postgres://no-such-host.invalid:1/x' } };
  const api = await packTest(t, { settings });
  const wanted = { name: 'theirs', tenant: 'acme', scopes: ['audit:read'] };
  const headersOf = async (body: object) => ({
    authorization: `Bearer ${(await api.post('/v1/host/gantry/keys', { ...wanted, ...body })).json().key}`,
  });
  const ours = await headersOf({ tenant: 'default' });
  const readers = await headersOf({ scopes: ['audit:read', 'host:read'] });
  for (const url of ['/v1/host/gantry/metrics', '/v1/host/gantry/sandbox']) {
    assertError(await api.get(url, ours), 403, 'forbidden');
    assert.equal((await api.get(url, readers)).statusCode, 200);
  }
  const made = await api.post('/v1/host/gantry/keys', wanted);
  const theirs = { authorization: `Bearer ${made.json().key}` };
  assertError(await api.get('/v1/host/gantry/metrics', theirs), 403, 'forbidden');
  const kv = async (headers?: { authorization: string }) => {
    const { backends } = (await api.get('/v1/host/gantry/surfaces', headers)).json();
    return backends.find(({ capability }: BackendHealth) => capability === 'kvStorage');
  };
  assert.match((await kv()).problem, /GANTRY_KV: .*no-such-host/);
  assert.deepEqual(await kv(theirs), {
    capability: 'kvStorage',
    backend: 'postgres',
    state: 'unreachable',
    problem: 'It is not available. Ask the operator of this host.',
  });
});

test('a setting that names no server it knows stops the start, and does not repeat it', async (t) => {
  const settings = { backends: { queue: 'kafka://user:hush@broker' } };
  await assert.rejects(packTest(t, { settings }), (error: Error) => {
    assert.match(error.message, /GANTRY_QUEUE asks for "kafka:\/\/".*postgres:\/\//);
    assert.doesNotMatch(error.message, /hush/);
    return true;
  });
});
