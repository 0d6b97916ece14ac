import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ErrorCode } from '@gantry/protocol';
import { changed, issuesOf, manifests, written } from '../testing/manifests.ts';
import type { PackKind } from './kinds.ts';
import { readManifest } from './read-manifest.ts';

type Case = readonly [
  name: string,
  kind: PackKind,
  at: string,
  value: unknown,
  code?: ErrorCode,
  where?: string,
];

const agent = { agentId: 'vendor.acme.tools.x', persona: 'P', modelClass: 'general' };
const REFUSED: readonly Case[] = [
  ['an unknown kind', 'node', '/kind', 'widget', 'pack_kind_invalid'],
  ['content of another kind', 'node', '/chains', [], 'pack_kind_invalid'],
  [
    'a runtime in a declarative pack',
    'card',
    '/runtime',
    { language: 'remote', entry: 'x' },
    'pack_kind_invalid',
  ],
  ['a runtime in a front-end plugin', 'frontend-plugin', '/runtime', {}, 'pack_kind_invalid'],
  ['a chain pack without chains', 'workflow-chain', '/chains', [], 'invalid_manifest'],
  [
    'a node pack without nodes and agents',
    'node',
    '/nodes',
    [],
    'connector_action_unresolved',
    '/connector/actions/0/typeId',
  ],
  [
    'a built-in module as a requirement',
    'node',
    '/runtime/requires',
    ['node:dns/promises'],
    'invalid_manifest',
    '/runtime/requires/0',
  ],
  [
    'a requirement of a later vocabulary',
    'node',
    '/runtime/requires',
    ['net.outbound.http'],
    'invalid_manifest',
    '/runtime/requires/0',
  ],
  ['a requirement that comes twice', 'node', '/runtime/requires', ['clock', 'clock']],
  ['an entry outside of the pack', 'node', '/runtime/entry', '../../etc/passwd', 'invalid_manifest'],
  ['an absolute entry', 'node', '/runtime/entry', '/etc/passwd', 'invalid_manifest'],
  ['a schema outside of the pack', 'node', '/nodes/0/configSchemaRef', '../x.json', 'invalid_manifest'],
  ['a signature outside of the pack', 'node', '/signing/signatureRef', '/tmp/x', 'invalid_manifest'],
  [
    'a remote pack with nodes and no address',
    'node',
    '/runtime',
    { language: 'remote', entry: 'pack.json' },
    'invalid_manifest',
    '/runtime/entry',
  ],
  [
    'a remote pack over http',
    'node',
    '/runtime',
    { language: 'remote', entry: 'http://acme.example/mcp' },
    'invalid_manifest',
    '/runtime/entry',
  ],
  [
    'WebAssembly without an ABI version',
    'node',
    '/runtime',
    { language: 'wasm', entry: 'a.wasm' },
    'invalid_manifest',
    '/runtime',
  ],
  ['a broken engines range', 'node', '/engines/openwop', 'soon', 'invalid_engines_range'],
  [
    'a broken dependency range',
    'node',
    '/dependencies',
    { 'vendor.acme.other': 'soon' },
    'invalid_manifest',
    '/dependencies/vendor.acme.other',
  ],
  ['a name that is not reverse DNS', 'node', '/name', 'Tools', 'invalid_manifest'],
  [
    'an AI secret without its provider',
    'node',
    '/nodes/0/requiresSecrets',
    [{ id: 'a', kind: 'ai-provider' }],
    'invalid_manifest',
    '/nodes/0/requiresSecrets/0',
  ],
  [
    'an action that is no node',
    'node',
    '/connector/actions/0/typeId',
    'vendor.acme.other',
    'connector_action_unresolved',
  ],
  [
    'a trigger that is no node',
    'node',
    '/connector/triggers',
    ['vendor.acme.other'],
    'connector_action_unresolved',
    '/connector/triggers/0',
  ],
  ['a connector with a key for OAuth', 'node', '/connector/auth/key', 'k', 'invalid_manifest'],
  [
    'an agent named after another pack',
    'node',
    '/agents/0/agentId',
    'vendor.other.clerk.x',
    'invalid_manifest',
  ],
  [
    'an agent with two prompts',
    'node',
    '/agents/0/systemPrompt',
    'Be kind.',
    'invalid_manifest',
    '/agents/0',
  ],
  ['an agent without a prompt', 'node', '/agents/0', agent, 'invalid_manifest', '/agents/0'],
  [
    'a tool without its source',
    'node',
    '/agents/0/toolAllowlist',
    ['upsert'],
    'invalid_manifest',
    '/agents/0/toolAllowlist/0',
  ],
  ['a skill without a handoff', 'node', '/agents/0/role', 'skill', 'invalid_manifest', '/agents/0'],
  [
    'a placeholder that is not declared',
    'prompt',
    '/prompts/0/text',
    'Hello {{nobody}}',
    'prompt_template_invalid',
  ],
  ['a pack prompt that hides its pack', 'prompt', '/prompts/0/meta', { source: 'pack' }, 'invalid_manifest'],
  [
    'an artifact type without schema',
    'artifact-type',
    '/artifactTypes/0/schemaRef',
    undefined,
    'invalid_manifest',
    '/artifactTypes/0',
  ],
  [
    'a card with an unmapped placeholder',
    'card',
    '/cards/0/prompt/template',
    'On {{x}}',
    'prompt_template_invalid',
  ],
  [
    'an address among the API hosts',
    'connection',
    '/provider/apiHosts',
    ['10.0.0.1'],
    'connection_pack_invalid_api_host',
    '/provider/apiHosts/0',
  ],
  [
    'a wildcard among the API hosts',
    'connection',
    '/provider/apiHosts',
    ['*.acme.example'],
    'connection_pack_invalid_api_host',
    '/provider/apiHosts/0',
  ],
  ['two ways to reach a provider', 'connection', '/provider/reach/integration', { node: 'a.b' }],
  [
    'an endpoint without TLS',
    'connection',
    '/provider/auth/endpoints/token',
    'http://acme.example/token',
    'invalid_manifest',
  ],
  [
    'a plugin entry outside of the pack',
    'frontend-plugin',
    '/uiPlugins/0/entry',
    'a/../../b.js',
    'invalid_manifest',
  ],
  [
    'a plugin entry that is hidden',
    'frontend-plugin',
    '/uiPlugins/0/entry',
    '.hidden.js',
    'invalid_manifest',
  ],
  ['a plugin with a signing member', 'frontend-plugin', '/signing', { method: 'manual' }, 'invalid_manifest'],
  ['a plugin with dependencies', 'frontend-plugin', '/dependencies', {}, 'invalid_manifest'],
  [
    'a plugin surface outside of the list',
    'frontend-plugin',
    '/uiPlugins/0/surface',
    'canvas-preview',
    'invalid_manifest',
  ],
  [
    'a plugin method outside of the list',
    'frontend-plugin',
    '/uiPlugins/0/hostApi',
    ['host.announce'],
    'invalid_manifest',
    '/uiPlugins/0/hostApi/0',
  ],
  [
    'a chain that pins a workflow',
    'workflow-chain',
    '/chains/0/dag/nodes/0/config',
    { workflowId: 'w' },
    'chain_fragment_pins_workflow_id',
    '/chains/0',
  ],
  [
    'a form field of an unknown type',
    'form-content',
    '/templates/0/fields/0/type',
    'hologram',
    'invalid_manifest',
  ],
];

describe('rules of manifests', () => {
  for (const [name, kind, at, value, code, where = at] of REFUSED)
    test(`refused: ${name}`, () => {
      const issues = issuesOf(changed(manifests[kind], at, value));
      assert.ok(issues.length > 0, 'it was read');
      if (code === undefined) return;
      assert.ok(
        issues.some((issue) => issue.code === code && issue.path === where),
        JSON.stringify(issues),
      );
    });

  for (const [kind, list, id, code] of [
    ['node', 'nodes', 'vendor.acme.tools.upsert', 'invalid_manifest'],
    ['workflow-chain', 'chains', 'greet', 'invalid_manifest'],
    ['card', 'cards', 'vendor.acme.tools.brief', 'invalid_manifest'],
    ['form-content', 'templates', 'vendor.acme.tools.intake', 'pack_kind_invalid'],
  ] as const)
    test(`refused: ${id} twice in ${list}`, () => {
      const [first] = [manifests[kind][list]].flat();
      const issues = issuesOf(changed(manifests[kind], `/${list}/1`, first));
      assert.deepEqual(
        issues.map((issue) => [issue.code, issue.message]),
        [[code, `${id} is declared twice.`]],
      );
    });
});

describe('what published packs do is told and read', () => {
  for (const [name, kind, at, value] of [
    ['a category that no schema lists', 'node', '/nodes/0/category', 'flow'],
    ['an OpenAPI provider without API hosts', 'connection', '/provider/apiHosts', undefined],
    [
      'an artifact type with its schema inside',
      'artifact-type',
      '/artifactTypes/0',
      { artifactTypeId: 'doc.note', schema: {} },
    ],
  ] as const)
    test(name, () => {
      const reading = readManifest(written(changed(manifests[kind], at, value)));
      assert.ok(reading.kind === 'manifest');
      assert.ok(reading.warnings.length > 0);
    });
});

describe('peer dependencies that no host can meet are told', () => {
  const warnings = (peers: Readonly<Record<string, string>>) => {
    const reading = readManifest(written(changed(manifests.node, '/peerDependencies', peers)));
    assert.ok(reading.kind === 'manifest');
    return reading.warnings.map(({ path, message }) => `${path}: ${message}`);
  };

  test('a name that nobody knows, with the one that was meant', () => {
    const [first, second, ...others] = warnings({ 'host.kvstorage': 'supported', kv: 'supported' });
    assert.match(first ?? '', /^\/peerDependencies\/host\.kvstorage: .*did you mean host\.kvStorage\?/);
    assert.match(second ?? '', /^\/peerDependencies\/kv: .*did you mean host\.kvStorage\?/);
    assert.deepEqual(others, []);
  });

  test('a value that says nothing', () => {
    const [first, ...others] = warnings({ 'host.kvStorage': 'yes' });
    assert.match(
      first ?? '',
      /^\/peerDependencies\/host\.kvStorage: "yes" is not a valid value: write "supported", "optional"/,
    );
    assert.deepEqual(others, []);
  });

  test('what published packs write is not', () => {
    const peers = {
      'host.kvStorage.atomicIncrement': 'required',
      'storage.queue': '*',
      'aiProviders.imageGeneration': 'supported',
      'openwop.agents.memoryBackends': '>=longTerm',
      'host.webSearch': 'optional',
      'host.sql': '^1.2',
    };
    assert.deepEqual(warnings(peers), []);
  });
});

describe('credentials in connection packs', () => {
  for (const name of ['clientSecret', 'API_KEY', 'Token', 'refreshtoken', 'password', 'privateKey', 'secret'])
    test(`a member ${name} is refused before the schema looks, and its value is not repeated`, () => {
      const issues = issuesOf(
        changed(manifests.connection, `/provider/vendor`, { deep: [{ [name]: 'hunter2' }] }),
      );
      assert.deepEqual(
        issues.map(({ code }) => code),
        ['connection_pack_credential_material'],
      );
      assert.equal(issues[0]?.path, `/provider/vendor/deep/0/${name}`);
      assert.doesNotMatch(JSON.stringify(issues), /hunter2/);
    });

  test('a token endpoint elsewhere is a secret', () => {
    const endpoints = { token: 'https://acme.example/token' };
    const [issue] = issuesOf(changed(manifests.connection, '/provider/endpoints', endpoints));
    assert.equal(issue?.code, 'connection_pack_credential_material');
  });
});
