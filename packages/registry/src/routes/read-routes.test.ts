import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import { nodePack } from '../testing/pack-page.ts';
import { packArchive, readServer, SIGNED, sampleArchive, sampleCatalogue } from '../testing/read-server.ts';

type Server = Awaited<ReturnType<typeof readServer>>;

async function get(app: Server, url: string): Promise<JsonObject> {
  const answer = await app.inject({ url });
  assert.equal(answer.statusCode, 200, `${url}: ${answer.body.slice(0, 300)}`);
  return answer.json();
}

const names = (packs: Json | undefined): unknown[] =>
  (Array.isArray(packs) ? packs : []).map((pack) => (pack as JsonObject).name);

const DOCUMENTS = [
  '/.well-known/openwop-registry',
  '/.well-known/openwop-registry.json',
  '/v1/index.json',
  '/v1/packs',
  '/v1/packs/-/catalog',
  '/v1/packs/export',
  '/v1/packs/-/search?q=text',
  '/v1/packs/-/by-type/vendor.gantry.text.pick',
  '/v1/packs/vendor.gantry.text/-/1.0.0.sbom.json',
  '/v1/sbom.json',
  '/security/advisories.json',
  '/vendor.gantry.text/1.0.0/pick-config.json',
];

test('every document is JSON for all origins, is cached for minutes and answers 304', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  for (const url of DOCUMENTS) {
    const { headers, statusCode } = await app.inject({ url });
    assert.equal(statusCode, 200, url);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8', url);
    assert.equal(headers['access-control-allow-origin'], '*', url);
    assert.equal(headers['cache-control'], 'public, max-age=300', url);
    assert.ok(typeof headers.etag === 'string', url);
    const again = await app.inject({ url, headers: { 'if-none-match': headers.etag } });
    assert.deepEqual([again.statusCode, again.body], [304, ''], url);
  }
});

test('discovery names the endpoints, the keys and the namespaces', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  const document = await get(app, '/.well-known/openwop-registry');
  assert.equal(document.url, 'https://packs.gantry.example');
  assert.deepEqual(document.supportedNamespaces, ['core', 'vendor', 'community']);
  assert.deepEqual(document.supportedSigningMethods, ['manual', 'ed25519']);
  const { versionTarball } = document.endpoints as JsonObject;
  assert.equal(versionTarball, '/v1/packs/{name}/-/{version}.tgz');
  assert.equal((document.signingKeys as JsonObject[])[0]?.keyId, 'gantry-1');
  assert.equal((document.namespaceAssignments as JsonObject[])[0]?.namespace, 'vendor.gantry.*');
  assert.deepEqual(await get(app, '/.well-known/openwop-registry.json'), document);
});

test('the index counts and names what packs bring, and follows the catalogue', async (t) => {
  const catalogue = await sampleCatalogue(['text', 'editor']);
  const app = await readServer(t, catalogue);
  const before = await get(app, '/v1/index.json');
  assert.deepEqual(
    [before.packCount, names(before.packs)],
    [2, ['vendor.gantry.editor', 'vendor.gantry.text']],
  );
  const [editor] = before.packs as JsonObject[];
  assert.deepEqual(
    [editor?.kind, editor?.latestVersion, editor?.typeIds, editor?.nodeCount, editor?.agentCount],
    ['node', '1.0.0', ['vendor.gantry.editor.copy-editor'], 0, 1],
  );
  await catalogue.add(await sampleArchive('review'), SIGNED);
  assert.equal((await get(app, '/v1/index.json')).packCount, 3);
});

test('the listing names the agents, and the export holds their manifests', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  const { packs } = await get(app, '/v1/packs');
  assert.deepEqual(names(packs), [
    'vendor.gantry.crc32',
    'vendor.gantry.editor',
    'vendor.gantry.http-check',
    'vendor.gantry.review',
    'vendor.gantry.text',
  ]);
  assert.deepEqual(await get(app, '/v1/packs/-/catalog'), await get(app, '/v1/packs'));
  const { manifests } = await get(app, '/v1/packs/export');
  const [agent] = manifests as JsonObject[];
  assert.deepEqual([agent?.agentId, agent?.modelClass], ['vendor.gantry.editor.copy-editor', 'writing']);
  assert.deepEqual((packs as JsonObject[])[1]?.agents, manifests);
});

test('agents of a pack that is withdrawn are neither listed nor exported', async (t) => {
  const catalogue = await sampleCatalogue([]);
  const yank = { reason: 'leaks', yankedAt: '2026-06-01T00:00:00Z', yankedBy: 'key_1' };
  await catalogue.add(await sampleArchive('editor'), { yank });
  const app = await readServer(t, catalogue);
  assert.deepEqual((await get(app, '/v1/packs/export')).manifests, []);
  assert.equal((await app.inject('/v1/packs/-/by-type/vendor.gantry.editor.copy-editor')).statusCode, 404);
});

test('search takes words, kind, limit and cursor, and refuses what it does not know', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  const found = await get(app, '/v1/packs/-/search?q=text&limit=1');
  assert.deepEqual([found.q, found.total, names(found.results)], ['text', 3, ['vendor.gantry.text']]);
  const next = await get(app, `/v1/packs/-/search?q=text&limit=5&cursor=${found.nextCursor}`);
  assert.deepEqual(names(next.results), ['vendor.gantry.review', 'vendor.gantry.editor']);
  const chains = await get(app, '/v1/packs/-/search?q=text&kind=workflow-chain');
  assert.deepEqual(names(chains.results), ['vendor.gantry.review']);
  for (const query of ['kind=none', 'limit=0', 'limit=101', 'cursor=%25', `q=${'a'.repeat(201)}`])
    assert.equal((await app.inject(`/v1/packs/-/search?${query}`)).statusCode, 400, query);
  const other = await app.inject('/v1/packs/-/search?q=text&other=1');
  assert.equal(other.statusCode, 200);
  assert.match(String(other.headers['gantry-warning']), /other/);
});

test('a connector is named in index, list, search and pages, with its sign-in and its actions', async (t) => {
  const catalogue = await sampleCatalogue(['text']);
  const app = await readServer(t, catalogue);
  const connector = {
    id: 'ledger',
    displayName: 'Ledger <b>',
    auth: { type: 'oauth2', provider: 'ledger', scopes: ['entries.read'] },
    actions: [{ typeId: 'vendor.acme.ledger.post', displayName: 'Post an entry', idempotent: true }],
  };
  await catalogue.add(await packArchive(nodePack({ name: 'vendor.acme.tools', connector })));
  const facet = {
    id: 'ledger',
    displayName: 'Ledger <b>',
    authType: 'oauth2',
    actions: [{ typeId: 'vendor.acme.ledger.post', displayName: 'Post an entry' }],
  };
  const facetsOf = (packs: unknown) => (packs as JsonObject[]).map((pack) => pack.connector);
  assert.deepEqual(facetsOf((await get(app, '/v1/index.json')).packs), [facet, undefined]);
  assert.deepEqual(facetsOf((await get(app, '/v1/packs')).packs), [facet, undefined]);
  for (const q of ['ledger', 'entry'])
    assert.deepEqual(facetsOf((await get(app, `/v1/packs/-/search?q=${q}`)).results), [facet], q);
  assert.match((await app.inject('/?q=ledger')).body, /Connector: Ledger &lt;b&gt;/);
  assert.match((await app.inject('/packs/vendor.acme.tools')).body, /OAuth, at the provider.*Post an entry/s);
});

test('a type is found by its whole id and by nothing shorter', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  const found = await get(app, '/v1/packs/-/by-type/vendor.gantry.text.pick');
  assert.deepEqual(names(found.packs), ['vendor.gantry.text']);
  for (const typeId of [
    'vendor.gantry.text',
    'vendor.gantry.text.pic',
    'constructor',
    'vendor.gantry.text.pick.',
  ])
    assert.equal((await app.inject(`/v1/packs/-/by-type/${typeId}`)).statusCode, 404, typeId);
});

test('schemas are served as they stand in the archive, while their version is offered', async (t) => {
  const catalogue = await sampleCatalogue([]);
  const schema = '{ "$id": "https://packs.gantry.example/x/1.0.0/in.json",  "type": "object" }';
  const manifest = { name: 'vendor.gantry.mirror', version: '1.0.0', kind: 'node' };
  const files = { 'schemas/in.json': schema, 'schemas/deep/in.json': '{}', 'other.json': '{}' };
  const version = await catalogue.add(await packArchive(manifest, files));
  const app = await readServer(t, catalogue);
  assert.equal((await app.inject('/vendor.gantry.mirror/1.0.0/in.json')).body, schema);
  for (const path of ['1.0.0/out.json', '1.0.1/in.json', '1.0.0/other.json', '1.0.0/..%2fpack.json'])
    assert.notEqual((await app.inject(`/vendor.gantry.mirror/${path}`)).statusCode, 200, path);
  catalogue.put({ ...version, yank: { reason: 'bad', yankedAt: '2026-06-01T00:00:00Z', yankedBy: 'key_1' } });
  assert.equal((await app.inject('/vendor.gantry.mirror/1.0.0/in.json')).statusCode, 404);
});

test('a bill of materials names the hash, the licence and the dependencies', async (t) => {
  const catalogue = await sampleCatalogue(['review', 'text']);
  const app = await readServer(t, catalogue);
  const bill = await get(app, '/v1/packs/vendor.gantry.review/-/1.0.0.sbom.json');
  const { component } = bill.metadata as JsonObject;
  const { hashes, licenses, purl } = component as JsonObject;
  assert.equal(`${bill.bomFormat} ${bill.specVersion}`, 'CycloneDX 1.6');
  assert.equal(purl, 'pkg:openwop/vendor.gantry.review@1.0.0');
  assert.deepEqual(licenses, [{ license: { id: 'Apache-2.0' } }]);
  const content = hash('sha256', await sampleArchive('review'), 'hex');
  assert.deepEqual(hashes, [{ alg: 'SHA-256', content }]);
  assert.deepEqual(bill.dependencies, [
    { ref: 'pkg:openwop/vendor.gantry.review@1.0.0', dependsOn: ['pkg:openwop/vendor.gantry.text'] },
    { ref: 'pkg:openwop/vendor.gantry.text' },
  ]);
  const whole = await get(app, '/v1/sbom.json');
  assert.deepEqual(names(whole.components), ['vendor.gantry.review', 'vendor.gantry.text']);
  assert.equal((await app.inject('/v1/packs/vendor.gantry.review/-/9.0.0.sbom.json')).statusCode, 404);
});
