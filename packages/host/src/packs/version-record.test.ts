import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArchive, readManifest } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { assertError } from '../api/testing/api-test.ts';
import { declaredArchive, identity } from './connections/testing/declared-archive.ts';
import { packArchive, type TestPack } from './testing/pack-archive.ts';
import { packTest } from './testing/pack-test.ts';
import { contentsOf } from './version-record.ts';

async function contents(pack: TestPack) {
  const archive = await readArchive((await packArchive(pack)).bytes);
  const reading = readManifest(archive.manifestBytes);
  assert.ok(reading.kind === 'manifest', JSON.stringify(reading));
  return contentsOf(reading.manifest, archive, 'archive');
}

const typed = (role: string, more: JsonObject = {}) => ({ body: '', role, more });

test('doubt is settled by role, traits and what the connector declares', async () => {
  const { record } = await contents({
    nodes: {
      'vendor.acme.pure': typed('pure'),
      'vendor.acme.liar': typed('pure', { capabilities: ['side-effectful'] }),
      'vendor.acme.gate': typed('gate'),
      'vendor.acme.act': typed('side-effect'),
      'vendor.acme.odd': typed('something-new'),
      'vendor.acme.put': typed('action'),
    },
    manifest: {
      connector: {
        id: 'acme',
        displayName: 'Acme',
        actions: [{ typeId: 'vendor.acme.put', displayName: 'Put', idempotent: true }],
      },
    },
  });
  assert.deepEqual(
    record.nodes.map(({ typeId, effect }) => [typeId.slice('vendor.acme.'.length), effect]),
    [
      ['pure', 'pure'],
      ['liar', 'effect'],
      ['gate', 'idempotent'],
      ['act', 'effect'],
      ['odd', 'effect'],
      ['put', 'idempotent'],
    ],
  );
});

test('schemas that cannot be used are left out with a warning, sensitive outputs are marked', async () => {
  const { record, warnings } = await contents({
    nodes: {
      'vendor.acme.work': typed('pure', {
        configSchemaRef: 'schemas/good.json',
        inputSchemaRef: './schemas/bad.json',
        outputs: { token: { sensitive: true }, size: {} },
      }),
    },
    files: { 'schemas/good.json': { type: 'object' }, 'schemas/bad.json': { type: 'nonsense' } },
  });
  const [node] = record.nodes;
  assert.deepEqual(node?.configSchema, { type: 'object' });
  assert.equal(node?.inputSchema, undefined);
  assert.deepEqual(node?.sensitiveOutputs, ['token']);
  assert.match(warnings[0] ?? '', /bad\.json is not checked/);
});

const provider = {
  id: 'acme',
  displayName: 'Acme',
  category: 'crm',
  auth: { kind: 'api_key' },
  reach: { integration: { node: 'vendor.acme.call' } },
};
const card = {
  cardTypeId: 'vendor.acme.brief',
  prompt: { template: 'Write about {{topic}}', placeholderMapping: { topic: 'inputs.topic' } },
};
const form = {
  templateId: 'vendor.acme.intake',
  version: '1.0.0',
  label: 'Intake',
  title: 'Intake',
  fields: [{ id: 'name', type: 'text', label: 'Name' }],
};
const kinds: readonly [JsonObject, readonly string[]][] = [
  [{ kind: 'connection', provider }, ['acme']],
  [
    { kind: 'prompt', prompts: [{ templateId: 'calm', version: '1.0.0', kind: 'system', text: 'Be calm.' }] },
    ['calm'],
  ],
  [
    {
      kind: 'artifact-type',
      artifactTypes: [{ artifactTypeId: 'doc.one-pager', schema: { type: 'object' } }],
    },
    ['doc.one-pager'],
  ],
  [{ kind: 'card', cards: [card] }, ['vendor.acme.brief']],
  [{ kind: 'form-content', templates: [form] }, ['vendor.acme.intake']],
];

test('packs of every kind without code say what they bring by its ids', async () => {
  for (const [manifest, ids] of kinds) {
    const archive = await readArchive(await declaredArchive(manifest));
    const reading = readManifest(archive.manifestBytes);
    assert.ok(reading.kind === 'manifest', JSON.stringify(reading));
    const { contentIds, record, warnings } = contentsOf(reading.manifest, archive, 'archive');
    assert.deepEqual([contentIds, record.declared?.kind, warnings], [ids, manifest.kind, []]);
    assert.deepEqual([record.nodes, record.chains, record.code], [[], [], undefined]);
  }
});

test('packs of every kind without code are installed, listed and removed', async (t) => {
  const api = await packTest(t);
  for (const [manifest] of kinds) {
    const { kind } = manifest;
    const name = `vendor.acme.${kind}`;
    const bytes = await declaredArchive({ ...manifest, name });
    const installed = await api.upload(bytes);
    assert.equal(installed.statusCode, 201, installed.body);
    assert.equal((await api.upload(bytes)).statusCode, 200, 'the same again changes nothing');
    const { versions } = (await api.get(`/v1/host/gantry/packs/${name}`)).json();
    assert.deepEqual([versions[0].kind, versions[0].requires], [kind, []]);
    const removed = await api.request({ method: 'DELETE', url: `/v1/host/gantry/packs/${name}` });
    assert.equal(removed.statusCode, 204);
  }
});

test('what this host cannot use is refused by name', async (t) => {
  const api = await packTest(t);
  const plugin = { pluginId: 'viewer', surface: 'route', entry: 'index.js', hostApi: [] };
  const plugins = await declaredArchive(
    { kind: 'frontend-plugin', uiPlugins: [plugin] },
    { 'index.js': 'export {};' },
  );
  assertError(await api.upload(plugins), 501, 'capability_not_provided', { kind: 'frontend-plugin' });
  const agent = {
    agentId: `${identity.name}.clerk`,
    persona: 'A clerk.',
    modelClass: 'writing',
    systemPrompt: 'Help.',
  };
  const agents = { agents: [agent], runtime: { language: 'remote', entry: 'pack.json' } };
  assertError(await api.upload(await declaredArchive(agents)), 400, 'pack_peer_dependency_missing', {
    missing: ['agents.manifestRuntime'],
  });
  const peers = {
    ...agents,
    peerDependencies: { 'host.agentRuntime': 'supported', aiProviders: 'supported' },
  };
  assertError(await api.upload(await declaredArchive(peers)), 400, 'pack_peer_dependency_missing', {
    missing: ['host.agentRuntime', 'aiProviders'],
  });
  const both = {
    nodes: { 'vendor.acme.tools.work': typed('pure') },
    manifest: { agents: [{ ...agent, agentId: 'vendor.acme.tools.clerk' }] },
  };
  const installed = await api.upload((await packArchive(both)).bytes);
  assert.equal(installed.statusCode, 201, installed.body);
  assert.match(installed.json().warnings.join(), /agents are not served/);
});
