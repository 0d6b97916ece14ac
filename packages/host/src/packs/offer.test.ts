/** What peer dependencies can ask for is what the discovery document says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capabilityName, flagsOf, isAdvertised, SURFACE_NAMES } from '@gantry/protocol';
import { assertError } from '../api/testing/api-test.ts';
import { advertised } from './offer.ts';
import { packArchive } from './testing/pack-archive.ts';
import { packTest } from './testing/pack-test.ts';

test('whatever discovery advertises satisfies a peer dependency, and what it denies does not', async (t) => {
  const api = await packTest(t);
  const discovery: Record<string, unknown> = (await api.get('/.well-known/openwop')).json();
  const families = Object.keys(await api.host.services.packs.families());
  const offered = families.filter((name) => isAdvertised(discovery[name]));
  for (const name of [
    'deadLetter',
    'agents',
    'authorization',
    'sandbox',
    'subWorkflow',
    'conversationPrimitive',
  ])
    assert.ok(offered.includes(name), name);
  const aliases = SURFACE_NAMES.flatMap((surface) => surface.aliases);
  const parts = offered.flatMap((name) => flagsOf(discovery[name]).map((flag) => `${name}.${flag}`));
  const names = [...offered, ...parts, ...aliases].flatMap((name) => [name, `host.${name}`]);
  const install = async (peers: readonly string[]) => {
    const peerDependencies = Object.fromEntries(peers.map((name) => [name, 'supported']));
    const { bytes } = await packArchive({
      nodes: { 'vendor.acme.work': { body: 'return {};' } },
      manifest: { peerDependencies },
    });
    return api.upload(bytes);
  };
  const installed = await install(names);
  assert.equal(installed.statusCode, 201, installed.body);
  const refused = await install(['host.kanban', 'host.kvStorage']);
  assertError(refused, 400, 'pack_peer_dependency_missing');
  assert.deepEqual(refused.json().details.missing.map(capabilityName), ['kanban']);
});

test('flags are true or "supported"; what says no is not offered', () => {
  const offer = new Map(
    advertised({
      plain: true,
      spelled: 'supported',
      parts: { one: 'supported', two: true, three: 'planned', inner: { four: 'supported', supported: true } },
      off: false,
      denied: { supported: false, one: true },
      undecided: { supported: 'planned' },
      level: 'beta',
    }),
  );
  assert.deepEqual(
    [...offer.keys()],
    ['plain', 'spelled', 'parts', 'parts.one', 'parts.two', 'parts.inner.four'],
  );
  assert.deepEqual(offer.get('parts'), ['one', 'two', 'inner.four']);
});
