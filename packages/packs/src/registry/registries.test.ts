import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { type Resolution, resolvePacks } from '../resolve/resolve.ts';
import { failsWith } from '../testing/locks.ts';
import { NOW } from '../testing/signed-pack.ts';
import { fetchPack, judgeFetched } from './fetch-pack.ts';
import { Registries } from './registries.ts';
import type { Registry } from './registry.ts';
import { documentsOf, memoryRegistry, nodeManifest, publishedDocuments } from './testing/memory-registry.ts';

const A = 'vendor.acme.a';
const B = 'vendor.acme.b';

const primary = memoryRegistry(documentsOf({ [A]: { '1.0.0': {} } }), { url: 'https://one.example' });
const fallback = memoryRegistry(documentsOf({ [A]: { '1.0.0': {}, '9.0.0': {} }, [B]: { '1.0.0': {} } }), {
  url: 'https://two.example',
});

const dead: Registry = memoryRegistry(new Map(), {
  url: 'https://dead.example',
  before: () => Promise.reject(new OpenwopError('pack_registry_unreachable')),
});

function resolve(registries: Registries, name: string, range = '*'): Promise<Resolution> {
  return resolvePacks({ roots: [{ name, range, requestedBy: 'setting' }], registries });
}
const from = async (registries: Registries, name: string, range?: string): Promise<string[]> =>
  (await resolve(registries, name, range)).packs.map(({ version, registry }) => `${version} ${registry}`);

describe('fallbacks', () => {
  const registries = new Registries({ registries: [primary, fallback] });

  test('are asked in order for packs that the ones before do not have', async () => {
    assert.deepEqual(await from(registries, B), ['1.0.0 https://two.example']);
  });

  test('cannot slip a higher version under a name that another registry has', async () => {
    assert.deepEqual(await from(registries, A), ['1.0.0 https://one.example']);
    assert.deepEqual(await from(registries, A, '1.0.0'), ['1.0.0 https://one.example']);
  });

  test('serve an exact version that the ones before lack', async () => {
    assert.deepEqual(await from(registries, A, '9.0.0'), ['9.0.0 https://two.example']);
  });

  test('are not taken for a registry that does not answer', async () => {
    const broken = new Registries({ registries: [dead, fallback] });
    await failsWith(() => resolve(broken, B), 'pack_registry_unreachable');
    await failsWith(
      () => fetchPack({ registry: dead, name: A, version: '1.0.0' }),
      'pack_registry_unreachable',
    );
  });
});

describe('offline', () => {
  const asked: string[] = [];
  const network = memoryRegistry(documentsOf({ [A]: { '2.0.0': {} } }), {
    onRead: (path) => asked.push(path),
  });
  const folder = memoryRegistry(documentsOf({ [A]: { '1.0.0': {} } }), {
    url: 'https://copy.example',
    reach: 'local',
  });
  const registries = new Registries({ registries: [network, folder], offline: true });

  test('only what is on this machine is asked', async () => {
    assert.deepEqual(await from(registries, A), ['1.0.0 https://copy.example']);
    assert.deepEqual(asked, []);
  });

  test('what is missing is told with what is there', async () => {
    const error = await failsWith(() => resolve(registries, A, '^2.0.0'), 'pack_version_not_found');
    assert.match(error.message, /Available locally \(offline mode\): 1\.0\.0/);
    assert.equal(error.details?.offline, true);
    const unknown = await failsWith(() => resolve(registries, B), 'pack_version_not_found');
    assert.match(unknown.message, /Offline mode, and no version is available locally/);
    assert.deepEqual(asked, []);
  });
});

describe('trust', () => {
  const pack = { manifest: nodeManifest('vendor.acme.tools', '1.0.0') };
  const host = { policy: { mode: 'verified' }, isExact: false, now: NOW } as const;
  const judged = async (registry: Registry, name: string): Promise<string> => {
    const judgement = await judgeFetched(await fetchPack({ registry, name, version: '1.0.0' }), host);
    return judgement.trusted ? judgement.level : judgement.code;
  };

  test('is that of the registry which serves the pack, and of no other', async () => {
    const good = memoryRegistry(await publishedDocuments([pack]));
    const keyless = memoryRegistry(await publishedDocuments([pack], { signingKeys: [] }));
    assert.equal(await judged(good, 'vendor.acme.tools'), 'signed');
    assert.equal(await judged(keyless, 'vendor.acme.tools'), 'pack_signature_unverifiable');
  });

  test('a key signs only for the namespaces that its registry permits', async () => {
    const foreign = memoryRegistry(
      await publishedDocuments([{ manifest: nodeManifest('vendor.other.tools', '1.0.0') }]),
    );
    assert.equal(await judged(foreign, 'vendor.other.tools'), 'pack_namespace_unauthorized');
  });

  test('of the keys that a registry lists, only those are fetched that have to do with the pack', async () => {
    const other = {
      keyId: 'other',
      publicKeyUrl: '/keys/other.pub',
      permittedNamespaces: ['vendor.other.*'],
    };
    const acme = {
      keyId: 'acme-1',
      publicKeyUrl: '/keys/acme-1.pub',
      permittedNamespaces: ['vendor.acme.*'],
    };
    const signingKeys = [other, acme].map((key) => ({ ...key, status: 'active' }));
    const asked: string[] = [];
    const registry = memoryRegistry(await publishedDocuments([pack], { signingKeys }), {
      onRead: (path) => asked.push(path),
    });
    assert.equal(await judged(registry, 'vendor.acme.tools'), 'signed');
    assert.deepEqual(
      asked.filter((path) => path.startsWith('/keys/')),
      ['/keys/acme-1.pub'],
    );
  });

  test('packs of the scope local come from no registry', async () => {
    const local = memoryRegistry(documentsOf({ 'local.acme.tools': { '1.0.0': {} } }));
    const registries = new Registries({ registries: [local] });
    await failsWith(() => resolve(registries, 'local.acme.tools'), 'pack_version_not_found');
  });

  test('an archive that is not the published one is refused before it is unpacked', async () => {
    const documents = await publishedDocuments([pack]);
    documents.set('/v1/packs/vendor.acme.tools/-/1.0.0.tgz', Buffer.from('no archive'));
    const registry = memoryRegistry(documents);
    await failsWith(() => judged(registry, 'vendor.acme.tools'), 'pack_integrity_failure');
  });
});
