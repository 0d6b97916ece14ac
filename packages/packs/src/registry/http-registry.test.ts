import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createEgress, createEgressByPurpose, readAllowList } from '@gantry/egress';
import { LOOPBACK_POLICY } from '../../../egress/src/testing/egress.ts';
import { watchSockets } from '../../../egress/src/testing/sockets.ts';
import { lockOf } from '../lock/lock-of.ts';
import { writeLock } from '../lock/lockfile.ts';
import { resolvePacks } from '../resolve/resolve.ts';
import { failsWith } from '../testing/locks.ts';
import { acmeKey, NOW } from '../testing/signed-pack.ts';
import { fetchPack, judgeFetched } from './fetch-pack.ts';
import { openFolderRegistry, openHttpRegistry, openRegistry } from './open-registry.ts';
import { Registries } from './registries.ts';
import type { Registry } from './registry.ts';
import {
  type Documents,
  nodeManifest,
  publishedDocuments,
  writeDocuments,
} from './testing/memory-registry.ts';

const NAME = 'vendor.acme.tools';
const egress = createEgress({ policy: LOOPBACK_POLICY });
const documents = await publishedDocuments([
  { manifest: nodeManifest(NAME, '1.0.0') },
  { manifest: nodeManifest(NAME, '1.1.0'), served: { yanked: true, yankedReason: 'leaks' } },
]);

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(t: TestContext, handler: Handler): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const from =
  (served: Documents, mount = ''): Handler =>
  ({ url = '' }, response) => {
    const bytes = url.startsWith(mount) ? served.get(decodeURIComponent(url.slice(mount.length))) : undefined;
    response.statusCode = bytes === undefined ? 404 : 200;
    response.end(bytes);
  };

const openAt = (url: string): Registry => openHttpRegistry({ url, egress, timeoutMs: 60_000 });

async function installs(registry: Registry): Promise<void> {
  const registries = new Registries({ registries: [registry] });
  const roots = [{ name: NAME, range: '^1.0.0', requestedBy: 'setting' }];
  const { packs } = await resolvePacks({ roots, registries });
  assert.deepEqual(
    packs.map(({ version }) => version),
    ['1.0.0'],
  );
  const fetched = await fetchPack({ registry, name: NAME, version: '1.0.0' });
  const judgement = await judgeFetched(fetched, { policy: { mode: 'verified' }, isExact: false, now: NOW });
  assert.equal(judgement.trusted && judgement.signedBy, acmeKey.keyId);
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const changed = (...entries: [string, Buffer | undefined][]): Documents => {
  const copy = new Map(documents);
  for (const [at, bytes] of entries) bytes === undefined ? copy.delete(at) : copy.set(at, bytes);
  return copy;
};
const discovery = JSON.parse(Buffer.from(documents.get('/.well-known/openwop-registry') ?? []).toString());
const indexAt = `/v1/packs/${NAME}`;

describe('a registry that the settings name', () => {
  test('is allowed by its origin alone; storage that it redirects to needs an entry', async (t) => {
    const storage = await serve(t, from(documents));
    const url = await serve(t, ({ url: path }, response) =>
      response.writeHead(302, { location: storage + path }).end(),
    );
    const sockets = watchSockets(t);
    const entry = `registry=${storage}`;
    const closed = openRegistry(url);
    await assert.rejects(installs(await closed), {
      code: 'pack_registry_unreachable',
      message: /GANTRY_EGRESS_ALLOW/,
    });
    const opened = { egress: createEgressByPurpose({ allow: readAllowList(entry) }) };
    await installs(await openRegistry(url, opened));
    const foreign = { egress: createEgressByPurpose({ allow: readAllowList(`webhook=${storage}`) }) };
    await assert.rejects(installs(await openRegistry(url, foreign)), { code: 'pack_registry_unreachable' });
    await installs(await openRegistry(storage));
    assert.ok(sockets.all.size > 0);
    assert.deepEqual(sockets.foreign(), [], 'every connection was opened by egress');
  });
});

describe('a registry behind HTTP', () => {
  test('is resolved from, fetched from and trusted by its own keys; a /v1 in its address is the same', async (t) => {
    const url = await serve(t, from(documents));
    await installs(openAt(url));
    await installs(openAt(`${url}/v1/`));
  });

  test('may lie below a path, and say its paths with or without it', async (t) => {
    for (const prefix of ['', '/registry']) {
      const endpoints = { packMetadata: `${prefix}/v1/packs/{name}` };
      const served = changed(['/.well-known/openwop-registry', json({ ...discovery, endpoints })]);
      await installs(openAt(`${await serve(t, from(served, '/registry'))}/registry`));
    }
  });

  test('says in its discovery where things are', async (t) => {
    const endpoints = { packMetadata: '/meta/{name}.json', versionTarball: '/blobs/{name}-{version}.tgz' };
    const served = changed(
      ['/.well-known/openwop-registry', undefined],
      ['/.well-known/openwop-registry.json', json({ ...discovery, endpoints })],
      [`/meta/${NAME}.json`, Buffer.from(documents.get(indexAt) ?? [])],
      [indexAt, undefined],
      [`/blobs/${NAME}-1.0.0.tgz`, Buffer.from(documents.get(`${indexAt}/-/1.0.0.tgz`) ?? [])],
      [`${indexAt}/-/1.0.0.tgz`, undefined],
    );
    const registry = openAt(await serve(t, from(served)));
    await installs(registry);
    const manifest = await registry.manifest(NAME, '1.0.0');
    assert.equal(manifest?.tarballUrl, `${registry.url}/blobs/${NAME}-1.0.0.tgz`);
  });

  test('may write its index as a map, and at index.json', async (t) => {
    const versions = { '1.0.0': { signed: true }, '1.1.0': { yanked: { reason: 'leaks' } }, newest: {} };
    const served = changed(
      [indexAt, undefined],
      [`${indexAt}/index.json`, json({ name: NAME, versions, 'dist-tags': { latest: '1.0.0' } })],
    );
    const registry = openAt(await serve(t, from(served)));
    await installs(registry);
    const index = await registry.index(NAME);
    assert.equal(index?.latest, '1.0.0');
    assert.deepEqual(index?.versions, [
      { version: '1.0.0' },
      { version: '1.1.0', yanked: { reason: 'leaks' } },
    ]);
  });

  test('may send to its storage', async (t) => {
    const archive = `${indexAt}/-/1.0.0.tgz`;
    const stored = from(changed(['/stored', Buffer.from(documents.get(archive) ?? [])]));
    const url = await serve(t, (request, response) => {
      if (request.url === archive) response.writeHead(302, { location: '/stored' }).end();
      else stored(request, response);
    });
    await installs(openAt(url));
  });

  test('knows nothing of a pack: no error; names and versions cannot lead elsewhere', async (t) => {
    const registry = openAt(await serve(t, from(documents)));
    assert.equal(await registry.index('vendor.acme.none'), undefined);
    assert.equal(await registry.manifest(NAME, '7.0.0'), undefined);
    assert.equal(await registry.archive(NAME, '7.0.0'), undefined);
    await failsWith(() => registry.index('vendor.acme/../../keys'), 'invalid_pack_name');
    await failsWith(() => registry.archive(NAME, '1.0.0/../../x'), 'invalid_version');
  });
});

describe('a registry that fails', () => {
  test('dead: pack_registry_unreachable, and pack_fetch_failed for an archive', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    const registry = openAt(`http://127.0.0.1:${port}`);
    await failsWith(() => registry.index(NAME), 'pack_registry_unreachable');
    await failsWith(() => registry.archive(NAME, '1.0.0'), 'pack_fetch_failed');
  });

  test('an error is no answer, and is forgotten when the registry is well again', async (t) => {
    let isIll = true;
    const url = await serve(t, (request, response) => {
      if (isIll) response.writeHead(503).end();
      else from(documents)(request, response);
    });
    const registry = openAt(url);
    assert.match((await failsWith(() => registry.index(NAME), 'pack_registry_unreachable')).message, /503/);
    isIll = false;
    await installs(registry);
  });

  test('documents that are none, too large, or lead to another server', async (t) => {
    const endpoints = { packMetadata: 'https://elsewhere.example/{name}' };
    for (const served of [
      changed([indexAt, Buffer.from('<html>')]),
      changed([indexAt, json({ versions: 'none' })]),
      changed([indexAt, Buffer.alloc(5 * 1024 * 1024, ' ')]),
      changed(['/.well-known/openwop-registry', Buffer.from('{')]),
      changed(['/.well-known/openwop-registry', json({ ...discovery, endpoints })]),
    ]) {
      const registry = openAt(await serve(t, from(served)));
      await failsWith(() => registry.index(NAME), 'pack_registry_unreachable');
    }
  });

  test('advisories that cannot be read are not taken for none', async (t) => {
    const served = changed(['/security/advisories.json', json({ advisories: [{ id: 'x' }] })]);
    const registry = openAt(await serve(t, from(served)));
    await failsWith(() => registry.advisories(), 'pack_registry_unreachable');
  });
});

describe('a registry in a folder', () => {
  test('gives the same lockfile as the one that it is a copy of', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gantry-registry-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const url = await serve(t, (request, response) => from(served)(request, response));
    const served = changed(['/.well-known/openwop-registry', json({ ...discovery, url })]);
    await writeDocuments(served, folder);
    const copy = await openFolderRegistry({ folder });
    await installs(copy);
    const lockFrom = async (registry: Registry): Promise<string> => {
      const registries = new Registries({ registries: [registry] });
      const roots = [{ name: NAME, range: '*', requestedBy: 'setting' }];
      return writeLock(await lockOf(await resolvePacks({ roots, registries }), registries));
    };
    assert.equal(await lockFrom(copy), await lockFrom(openAt(url)));
  });

  test('needs no index', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gantry-registry-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeDocuments(changed([indexAt, undefined]), folder);
    await installs(await openFolderRegistry({ folder }));
  });

  test('a folder that is none is refused by name', async () => {
    const error = await failsWith(
      () => openFolderRegistry({ folder: tmpdir() }),
      'pack_registry_unreachable',
    );
    assert.match(error.message, /no registry tree/);
  });
});
