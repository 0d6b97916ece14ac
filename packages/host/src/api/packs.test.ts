import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { PACK_NAME, packArchive, type TestPack } from '../packs/testing/pack-archive.ts';
import { PACKS_URL, packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { assertError } from './testing/api-test.ts';

const TYPE = 'vendor.acme.work';
const ONE = `${PACKS_URL}/${PACK_NAME}`;
const saying = (text: string, more: Partial<TestPack> = {}): TestPack => ({
  nodes: { [TYPE]: { body: `return { said: ${JSON.stringify(text)} };` } },
  ...more,
});
const one = (more = {}) => workflow('one', [node('a', TYPE)], more);
const bytesOf = async (pack: TestPack) => (await packArchive(pack)).bytes;

test('a pack that needs something is refused until it is granted, and says what it needs', async (t) => {
  const api = await packTest(t);
  const bytes = await bytesOf(saying('hi', { requires: ['net.dns', 'net.outbound'] }));
  const refused = await api.upload(bytes, '?grant=net.dns');
  assertError(refused, 400, 'pack_runtime_requirement_unmet', {
    unmet: ['net.outbound'],
    manifest: `${PACK_NAME}@1.0.0`,
  });
  const { unmet, manifest, advice, details } = refused.json();
  assert.deepEqual([unmet, manifest], [['net.outbound'], `${PACK_NAME}@1.0.0`]);
  assert.equal(advice, details.advice);
  assert.match(advice, /internet/);
  assert.deepEqual((await api.get(PACKS_URL)).json(), { packs: [] });
  const installed = await api.upload(bytes, '?grant=net.dns,net.outbound');
  assert.equal(installed.statusCode, 201, installed.body);
  assert.deepEqual(installed.json().granted, ['net.dns', 'net.outbound']);
  assert.equal((await api.upload(bytes)).statusCode, 200, 'the same again changes nothing');
  const detail = (await api.get(ONE)).json();
  assert.equal(detail.grants.length, 1);
  assert.match(detail.grants[0].grantedBy, /./);
  assert.match(detail.permissions[1].text, /internet/);
});

test('a version that needs more asks again and shows the difference', async (t) => {
  const api = await packTest(t);
  await api.install(saying('a', { requires: ['crypto'] }), '?grant=crypto');
  const more = await bytesOf(saying('b', { version: '1.1.0', requires: ['crypto', 'net.outbound'] }));
  assertError(await api.upload(more), 400, 'pack_runtime_requirement_unmet', {
    // Nobody signed it, so other bytes hold no grant.
    added: ['crypto', 'net.outbound'],
    granted: [],
  });
  assert.equal((await api.upload(more, '?grant=crypto,net.outbound')).statusCode, 201);
  const { versions, grants } = (await api.get(ONE)).json();
  assert.deepEqual(
    versions.map(({ version }: JsonObject) => version),
    ['1.1.0', '1.0.0'],
  );
  assert.deepEqual(grants[0].requires, ['crypto', 'net.outbound']);
});

test('grants are taken back at once, also from runs to come', async (t) => {
  const api = await packTest(t);
  await api.install(saying('hi', { requires: ['crypto'] }), '?grant=crypto');
  await api.registered(one());
  assert.equal((await api.ended(await api.start('one'))).status, 'completed');
  assertError(await api.post(`${ONE}/grants`, { requires: ['subprocess'] }), 400, 'validation_error');
  const detail = await api.post(`${ONE}/grants`, { requires: [] });
  assert.deepEqual(detail.json().versions[0].granted, []);
  const { error } = await api.ended(await api.start('one'));
  assert.equal((error as JsonObject).code, 'pack_runtime_requirement_unmet');
});

test('receipts show what was used beside what was granted', async (t) => {
  const api = await packTest(t);
  const body = `const { createCipheriv } = await import('node:crypto'); createCipheriv('aes-128-ecb', '0123456789abcdef', null); return {};`;
  const pack = { nodes: { [TYPE]: { body } }, requires: ['crypto', 'fs.read'] };
  await api.install(pack, '?grant=crypto,fs.read');
  await api.registered(one());
  assert.deepEqual((await api.get(`${ONE}/receipts`)).json().unused, [], 'nothing is known yet');
  for (const _ of [1, 2]) assert.equal((await api.ended(await api.start('one'))).status, 'completed');
  const { granted, used, unused, receipts } = (await api.get(`${ONE}/receipts`)).json();
  assert.deepEqual([granted, used, unused], [['crypto', 'fs.read'], ['crypto'], ['fs.read']]);
  assert.deepEqual(
    [receipts[0].version, receipts[0].steps, receipts[0].primitives],
    ['1.0.0', 2, { crypto: 2 }],
  );
});

test('a version keeps its content, unless it is being developed', async (t) => {
  const api = await packTest(t);
  await api.install(saying('first'));
  assertError(await api.upload(await bytesOf(saying('second'))), 409, 'pack_version_conflict');
  assertError(
    await api.upload(await bytesOf(saying('second')), '?development=true'),
    409,
    'pack_version_conflict',
  );
  const dev = { name: 'vendor.acme.dev', nodes: { 'vendor.acme.dev.work': { body: 'return { said: 1 };' } } };
  await api.install(dev, '?development=true');
  await api.registered(workflow('dev', [node('a', 'vendor.acme.dev.work')]));
  assert.deepEqual((await api.ended(await api.start('dev'))).outputs, { said: 1 });
  await api.install(
    { ...dev, nodes: { 'vendor.acme.dev.work': { body: 'return { said: 2 };' } } },
    '?development=true',
  );
  assert.deepEqual((await api.ended(await api.start('dev'))).outputs, { said: 2 }, 'the next run uses it');
});

test('what is no pack is refused with its reason', async (t) => {
  const api = await packTest(t);
  assertError(await api.upload(Buffer.from('no archive')), 400, 'tarball_gunzip_failed');
  assertError(await api.post(PACKS_URL, {}), 400, 'validation_error');
  assertError(await api.post(PACKS_URL, { name: 'vendor.acme.text' }), 501, 'capability_not_provided');
  assertError(await api.upload(Buffer.alloc(11 * 1024 * 1024)), 413, 'payload_too_large');
  const broken = await bytesOf(saying('x', { manifest: { version: 'one' } }));
  const refused = await api.upload(broken);
  assert.equal(refused.statusCode, 400);
  assert.match(refused.json().details.issues[0].path, /version/);
  const peers = await bytesOf(
    saying('x', { manifest: { peerDependencies: { 'host.kanban': 'supported' } } }),
  );
  assertError(await api.upload(peers), 400, 'pack_peer_dependency_missing');
});

test('packs belong to their tenant, and scopes guard them', async (t) => {
  const api = await packTest(t);
  await api.install(saying('hi'));
  const weak = await api.post('/v1/host/gantry/keys', { name: 'weak', scopes: ['packs:read'] });
  const authorization = `Bearer ${weak.json().key}`;
  assert.equal((await api.get(PACKS_URL, { authorization })).json().packs.length, 1);
  assertError(await api.post(`${ONE}/grants`, { requires: [] }, { authorization }), 403, 'forbidden');
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'other',
    tenant: 'other',
    scopes: ['packs:read', 'workflows:write'],
  });
  const other = { authorization: `Bearer ${made.json().key}` };
  assert.deepEqual((await api.get(PACKS_URL, other)).json(), { packs: [] });
  assertError(await api.get(ONE, other), 404, 'pack_not_found');
  assertError(await api.post('/v1/host/gantry/workflows', one(), other), 422, 'capability_required');
});

test('the discovery document tells of the sandbox and the runtimes', async (t) => {
  const api = await packTest(t);
  const { sandbox, nodePackRuntimes } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual([sandbox.supported, sandbox.isolationModel], [true, 'process']);
  assert.deepEqual([sandbox.memoryLimitBytes, sandbox.wallClockLimitMs], [256 * 1024 * 1024, 30_000]);
  assert.deepEqual(nodePackRuntimes.wasm.abiVersions, [1]);
  const { isolation, filtered, problems } = (await api.get('/v1/host/gantry/sandbox')).json();
  assert.match(isolation, /^(bwrap|unshare)$/);
  if (filtered)
    assert.deepEqual(
      problems.filter(({ next }: JsonObject) => next !== undefined),
      [],
    );
  const asking = saying('hi', { manifest: { peerDependencies: { 'host.sandbox': 'supported' } } });
  assert.equal((await api.upload(await bytesOf(asking))).statusCode, 201);
});

test('without an OS sandbox none is promised, though packs run as the operator wants it', async (t) => {
  const api = await packTest(t, { settings: { sandbox: 'permission-only' } });
  const { sandbox, nodePackRuntimes } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual([sandbox, nodePackRuntimes.javascript], [undefined, { supported: true }]);
  const asking = saying('hi', { manifest: { peerDependencies: { 'host.sandbox': 'supported' } } });
  assertError(await api.upload(await bytesOf(asking)), 501, 'capability_not_provided', {
    capability: 'host.sandbox',
  });
  const { isolation, filtered, problems } = (await api.get('/v1/host/gantry/sandbox')).json();
  assert.deepEqual([isolation, filtered], ['permission-only', false]);
  assert.match(problems[0].problem, /without an OS sandbox/);
  await api.install(saying('hi'));
  await api.registered(one());
  assert.deepEqual((await api.ended(await api.start('one'))).outputs, { said: 'hi' });
});
