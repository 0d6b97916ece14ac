import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorEnvelope, type JsonObject } from '@gantry/protocol';
import { PACK_KINDS, type PackKind } from '../manifest/kinds.ts';
import { RUNTIME_REQUIREMENTS } from '../manifest/node.ts';
import { changed, manifestOf, manifests } from '../testing/manifests.ts';
import { judgeInstall, refusalError } from './install-gate.ts';
import type { HostOffer } from './peer-dependencies.ts';
import { describePermission, grantDifference } from './permission.ts';

const everyKind = Object.keys(PACK_KINDS) as PackKind[];
const offer: HostOffer = {
  protocolVersion: '1.1.0',
  capabilities: new Map([
    ['oauth', []],
    ['host.agentRuntime', []],
    ['aiProviders', ['1.2.0']],
    ['agents.memoryBackends', ['long-term']],
  ]),
  languages: new Set(['javascript']),
  wasmAbiVersions: [1],
  grants: ['net.outbound', 'crypto'],
  kinds: new Set(everyKind),
  builtInTypeIds: new Set(['core.identity']),
};

const judge = (at: string, value: unknown, change: Partial<HostOffer> = {}) =>
  judgeInstall(manifestOf(changed(manifests.node, at, value)), { ...offer, ...change });

function refusals(judgement: ReturnType<typeof judge>): (readonly [string, JsonObject])[] {
  return judgement.installable ? [] : judgement.refusals.map(({ code, details }) => [code, details] as const);
}
const codes = (judgement: ReturnType<typeof judge>): string[] => refusals(judgement).map(([code]) => code);
const wasm = (abiVersion: number) => ({ language: 'wasm', entry: 'a.wasm', wasm: { abiVersion } });
const peers = (needs: JsonObject) => judge('/peerDependencies', needs);

describe('install gate', () => {
  for (const kind of everyKind)
    test(`a pack of kind ${kind} installs on a host that takes it, and only there`, () => {
      const manifest = manifestOf(manifests[kind]);
      assert.equal(judgeInstall(manifest, offer).installable, true);
      const without = { ...offer, kinds: new Set<PackKind>() };
      assert.ok(codes(judgeInstall(manifest, without)).includes('capability_not_provided'));
    });

  test('engines: a range with two-part versions, one that excludes the host', () => {
    assert.deepEqual(codes(judge('/engines/openwop', '>=1.1 <2.0.0')), []);
    assert.deepEqual(codes(judge('/engines/openwop', '>=2.0.0')), ['pack_engines_unmet']);
  });

  test('runtimes: a language, WebAssembly and its ABI', () => {
    const python = { language: 'python', entry: 'a.py' };
    assert.deepEqual(codes(judge('/runtime', python)), ['unsupported_runtime']);
    assert.deepEqual(codes(judge('/runtime', wasm(1))), []);
    assert.deepEqual(codes(judge('/runtime', wasm(999))), ['unsupported_abi_version']);
    assert.deepEqual(codes(judge('/runtime', wasm(1), { wasmAbiVersions: [] })), [
      'unsupported_pack_runtime',
    ]);
  });

  test('agents alone need no runtime', () => {
    const agents = changed(changed(manifests.node, '/nodes'), '/connector');
    const remote = manifestOf(changed(agents, '/runtime', { language: 'remote', entry: 'pack.json' }));
    assert.equal(judgeInstall(remote, offer).installable, true);
  });

  test('a type that the host has itself stays the host’s', () => {
    const nodes = [{ typeId: 'core.identity', version: '1.0.0', category: 'data', role: 'pure' }];
    const judgement = judgeInstall(
      manifestOf(changed(changed(manifests.node, '/nodes', nodes), '/connector')),
      offer,
    );
    assert.ok(judgement.installable);
    assert.deepEqual(judgement.shadowed, ['core.identity']);
  });
});

describe('peer dependencies', () => {
  for (const [name, needs] of [
    ['a name and its alias', { 'host.aiProviders': 'supported', agentRuntime: 'supported' }],
    ['what another implies', { 'agents.manifestRuntime': 'supported' }],
    ['a level in another spelling', { 'openwop.agents.memoryBackends': '>=longTerm' }],
    ['a version', { aiProviders: '^1.0.0' }],
  ] as const)
    test(`met: ${name}`, () => {
      assert.deepEqual(codes(peers(needs)), []);
    });

  for (const [name, needs, code] of [
    ['a capability that is not there', { 'host.kanban': 'supported' }, 'pack_peer_dependency_missing'],
    [
      'a part of one that is there',
      { 'aiProviders.imageGeneration': 'supported' },
      'pack_peer_dependency_missing',
    ],
    ['a higher version', { aiProviders: '>=2' }, 'pack_peer_dependency_missing'],
    ['a level that is not there', { 'agents.memoryBackends': '>=eternal' }, 'pack_peer_dependency_missing'],
    ['a wish that nobody can read', { aiProviders: 'sometimes?' }, 'pack_peer_dependency_missing'],
    ['a reserved surface', { 'host.media': 'supported' }, 'pack_peer_dependency_undefined'],
  ] as const)
    test(`refused: ${name}`, () => {
      const [key] = Object.keys(needs);
      assert.deepEqual(refusals(peers(needs)), [
        [code, { manifest: 'vendor.acme.tools@1.4.2', missing: [key] }],
      ]);
    });

  for (const [needs, told, next] of [
    [
      { 'host.kv': 'supported' },
      /needs host\.kv, .* not a known capability \(did you mean host\.kvStorage\?\)/,
      /^Correct/,
    ],
    [{ kv: 'required' }, /needs kv, .*\(did you mean host\.kvStorage\?\)/, /^Correct/],
    [{ 'host.agentruntime': '*' }, /\(did you mean host\.agentRuntime\?\)/, /^Correct/],
    [{ 'host.xyzzy': 'supported' }, /needs host\.xyzzy, .*\(docs\/capabilities\.md lists them\)/, /^Correct/],
    [
      { aiProviders: 'yes' },
      /asks for aiProviders with "yes", which is not a valid value.*"supported"/,
      /^Correct/,
    ],
    [{ 'host.sql': 'yes' }, /asks for host\.sql with "yes"/, /^Correct/],
    [{ aiProviders: '^2' }, /asks for aiProviders with "\^2", and here it has 1\.2\.0\./, /^Enable/],
    [{ agentRuntime: '^2' }, /asks for agentRuntime with "\^2", and here it has no version\./, /^Enable/],
    [{ 'agents.memoryBackends': '>=eternal' }, /and here it has long-term\./, /^Enable/],
    [
      { 'host.kanban': '*', 'host.sql': '^1' },
      /needs host\.kanban, host\.sql, which this host does not/,
      /^Enable/,
    ],
    [{ 'host.kanban': '*', 'host.kv': '*' }, /does not offer; it needs host\.kv, /, /^Correct .*Enable/],
  ] as const)
    test(`told apart: ${JSON.stringify(needs)}`, () => {
      const judgement = peers(needs);
      assert.ok(!judgement.installable);
      const [refusal, ...others] = judgement.refusals;
      assert.deepEqual(others, []);
      assert.match(refusal?.message ?? '', told);
      assert.match(refusal?.next ?? '', next);
    });

  test('however many names nobody knows, the answer is short', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => [`host.xyzzy${at}`, '*']);
    const judgement = peers(Object.fromEntries(many));
    assert.ok(!judgement.installable);
    assert.ok((judgement.refusals[0]?.message.length ?? 0) < 2_000);
  });

  test('optional ones degrade, in both spellings', () => {
    const manifest = changed(manifests.node, '/peerDependencies', {
      'host.kanban': 'supported',
      webSearch: 'optional',
    });
    const meta = changed(manifest, '/peerDependenciesMeta', { 'host.kanban': { optional: true } });
    const judgement = judgeInstall(manifestOf(meta), offer);
    assert.ok(judgement.installable);
    assert.deepEqual(judgement.degraded, ['host.kanban', 'webSearch']);
  });

  test('a connector needs the host to speak its authentication', () => {
    const without = new Map([...offer.capabilities].filter(([name]) => name !== 'oauth'));
    const judgement = judgeInstall(manifestOf(manifests.node), { ...offer, capabilities: without });
    assert.deepEqual(refusals(judgement)[0]?.[1].missing, ['oauth']);
  });
});

describe('runtime requirements', () => {
  test('what is not granted is refused by name, before anything is loaded', () => {
    const judgement = judge('/runtime/requires', ['net.outbound', 'subprocess', 'fs.read']);
    assert.ok(!judgement.installable);
    const [refusal] = judgement.refusals;
    assert.equal(refusal?.code, 'pack_runtime_requirement_unmet');
    assert.deepEqual(refusal.details.unmet, ['subprocess', 'fs.read']);
    assert.equal(refusal.details.manifest, 'vendor.acme.tools@1.4.2');
    assert.match(refusal.message, /vendor\.acme\.tools@1\.4\.2 .*subprocess, fs\.read/);
    assert.match(refusal.next, /Grant/);
  });

  test('an empty list and none are one', () => {
    for (const value of [[], undefined])
      assert.deepEqual(judge('/runtime/requires', value), {
        installable: true,
        requires: [],
        degraded: [],
        shadowed: [],
      });
  });

  test('a grant finer than the requirement does not cover it', () => {
    const finer = judge('/runtime/requires', ['net.outbound'], { grants: ['net.outbound.http', 'net.dns'] });
    assert.deepEqual(codes(finer), ['pack_runtime_requirement_unmet']);
  });

  test('every reason is told, and travels in one error', () => {
    const manifest = changed(manifests.node, '/engines/openwop', '>=9');
    const judgement = judgeInstall(manifestOf(manifest), { ...offer, grants: [], capabilities: new Map() });
    assert.ok(!judgement.installable);
    const [first, ...others] = judgement.refusals;
    assert.ok(first);
    const { error, details } = errorEnvelope(refusalError([first, ...others]));
    assert.equal(error, 'pack_engines_unmet');
    assert.equal([details?.also].flat().length, 2);
  });
});

describe('grants', () => {
  test('the difference of two grants asks again only for what is new', () => {
    assert.deepEqual(grantDifference(['net.outbound', 'crypto'], ['net.outbound', 'fs.read']), {
      added: ['fs.read'],
      removed: ['crypto'],
      kept: ['net.outbound'],
    });
    assert.deepEqual(grantDifference(['net.outbound'], ['net.outbound.http']).added, []);
    assert.deepEqual(grantDifference(['net.outbound.http'], ['net.outbound']).added, ['net.outbound']);
  });

  test('every permission is described in words', () => {
    for (const permission of RUNTIME_REQUIREMENTS)
      assert.match(describePermission(permission), /^[A-Z].{20,}\.$/);
    assert.match(describePermission('net.raw'), /does not know/);
  });
});
