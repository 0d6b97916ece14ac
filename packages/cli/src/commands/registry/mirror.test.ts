import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { createEgress } from '@gantry/egress';
import {
  fetchLocked,
  fetchPack,
  installPlan,
  judgeFetched,
  lockOf,
  openFolderRegistry,
  openHttpRegistry,
  Registries,
  resolvePacks,
} from '@gantry/packs';
import { LOOPBACK_POLICY } from '../../../../egress/src/testing/egress.ts';
import {
  type Documents,
  nodeManifest,
  type Published,
  publishedDocuments,
} from '../../../../packs/src/registry/testing/memory-registry.ts';
import { startCli } from '../../testing/test-host.ts';
import { type Workspace, workspaceFor } from './testing/registry-test.ts';

const TOOLS = 'vendor.acme.tools';
const MAIL = 'vendor.acme.mail';
const AT = `/v1/packs/${TOOLS}`;
const egress = createEgress({ policy: LOOPBACK_POLICY });

const pack = (name: string, version = '1.0.0', more: Omit<Published, 'manifest'> = {}): Published => ({
  manifest: nodeManifest(name, version),
  ...more,
});

/** What a registry with these packs serves, by address. */
async function documentsOf(...packs: Published[]): Promise<Documents> {
  const documents = await publishedDocuments(packs);
  const names = new Set(packs.map(({ manifest }) => String(manifest?.name)));
  const index = { packs: [...names].map((name) => ({ name })), more: 'of its own' };
  return documents.set('/v1/index.json', Buffer.from(JSON.stringify(index)));
}

type Answered = Uint8Array | 'unavailable' | undefined;
type Answer = (address: string) => Answered | Promise<Answered>;

async function serve(t: TestContext, answer: Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    const answered = await answer(decodeURIComponent(request.url ?? ''));
    if (answered === 'unavailable') response.writeHead(503).end();
    else response.writeHead(answered === undefined ? 404 : 200).end(answered);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Scene extends Workspace {
  readonly folder: string;
  readonly url: string;
  /** Every address that was asked for. */
  readonly asked: string[];
  mirror(...flags: string[]): Promise<{ code: number; out: string; err: string }>;
}

/** A registry that serves these documents, which a test may change, and a folder for its mirror. */
async function scene(t: TestContext, documents: Documents): Promise<Scene> {
  const asked: string[] = [];
  const url = await serve(t, (address) => {
    asked.push(address);
    return documents.get(address);
  });
  const root = await workspaceFor(t, {});
  const mirror = (...flags: string[]) => root.gantry('registry', 'mirror', url, 'mirror', ...flags);
  return { ...root, url, asked, mirror, folder: path.join(root.root, 'mirror') };
}

const archivesIn = (asked: readonly string[]): number =>
  asked.filter((address) => address.endsWith('.tgz')).length;

/** Installs from the mirror as a host would, in the strictest mode. */
async function installs(registry: Awaited<ReturnType<typeof openFolderRegistry>>, version: string) {
  const fetched = await fetchPack({ registry, name: TOOLS, version });
  const judged = await judgeFetched(fetched, {
    policy: { mode: 'verified' },
    isExact: true,
    now: Date.now(),
  });
  assert.equal(judged.trusted && judged.signedBy, 'acme-1');
}

test('a mirror has the bytes of the registry, and verifies with its keys as a folder and behind a web server', async (t) => {
  const documents = await documentsOf(
    pack(TOOLS, '1.0.0', { served: { yanked: true, yankedReason: 'It burns.' } }),
    pack(TOOLS, '1.1.0+linux', { method: 'ed25519' }),
    pack(MAIL),
  );
  documents.set('/security/advisories.json', Buffer.from('{ "advisories": [] }'));
  const { folder, mirror, url } = await scene(t, documents);
  const { code, out } = await mirror();
  assert.equal(code, 0, out);
  assert.match(out, /^3 versions of 2 packs: 3 copied \(\d.*\), 0 updated, 0 unchanged, 0 refused\.$/m);
  for (const [address, bytes] of documents) {
    if (address.startsWith('/.well-known')) continue;
    const file = /^\/v1\/packs\/[^/]+$/.test(address) ? `${address}/index.json` : address;
    assert.deepEqual(await readFile(path.join(folder, file)), Buffer.from(bytes), address);
  }
  const reader = await openFolderRegistry({ folder });
  assert.equal(reader.url, url);
  assert.deepEqual((await reader.index(TOOLS))?.versions[0]?.yanked, { reason: 'It burns.' });
  const files = await serve(t, (address) => readFile(path.join(folder, address)).catch(() => undefined));
  for (const version of ['1.0.0', '1.1.0+linux']) {
    await installs(reader, version);
    await installs(openHttpRegistry({ url: files, egress }), version);
  }
});

test('a mirror of a mirror is the same, and goes by the name of the first registry', async (t) => {
  const { folder, root, gantry, mirror, url } = await scene(t, await documentsOf(pack(TOOLS)));
  await mirror();
  const files = await serve(t, (address) => readFile(path.join(folder, address)).catch(() => undefined));
  assert.equal((await gantry('registry', 'mirror', files, 'second')).code, 0);
  assert.equal((await gantry('registry', 'mirror', 'second', 'third')).code, 0);
  assert.equal((await openFolderRegistry({ folder: path.join(root, 'third') })).url, url);
  const names = (await readdir(folder, { recursive: true })).sort();
  assert.deepEqual((await readdir(path.join(root, 'third'), { recursive: true })).sort(), names);
  for (const name of names.filter((file) => path.extname(file) !== '' && !/^v1\/packs\/[^/]+$/.test(file))) {
    if (name === '.well-known') continue;
    const third = await readFile(path.join(root, 'third', name));
    assert.deepEqual(third, await readFile(path.join(folder, name)), name);
  }
});

test('a lockfile made against the registry installs from the mirror', async (t) => {
  const { folder, mirror, url } = await scene(t, await documentsOf(pack(TOOLS), pack(TOOLS, '1.1.0')));
  const roots = [{ name: TOOLS, range: '^1.0.0', requestedBy: 'setting' }];
  const online = new Registries({ registries: [openHttpRegistry({ url, egress })] });
  const lock = await lockOf(await resolvePacks({ roots, registries: online }), online);
  await mirror();
  const offline = new Registries({ registries: [await openFolderRegistry({ folder })], offline: true });
  const plan = installPlan(lock, roots, offline);
  for (const step of plan.steps) assert.equal((await fetchLocked(step)).version, '1.1.0');
  assert.equal(plan.steps.length, 1);
  await writeFile(
    path.join(folder, `${AT}/-/1.1.0.tgz`),
    await readFile(path.join(folder, `${AT}/-/1.0.0.tgz`)),
  );
  for (const step of plan.steps) await assert.rejects(fetchLocked(step), { code: 'pack_integrity_mismatch' });
});

test('killed half-way, it goes on where it was', async (t) => {
  const versions = Array.from({ length: 12 }, (_, index) => `1.${index}.0`);
  const documents = await documentsOf(...versions.map((version) => pack(TOOLS, version)));
  const half = Promise.withResolvers<void>();
  const asked: string[] = [];
  let isHeld = true;
  const url = await serve(t, async (address) => {
    if (address.endsWith('.tgz')) asked.push(address);
    if (isHeld && asked.length === 6) {
      half.resolve();
      await new Promise(() => undefined);
    }
    return documents.get(address);
  });
  const { root, gantry } = await workspaceFor(t, {});
  const folder = path.join(root, 'mirror');
  const first = startCli(['registry', 'mirror', url, folder]);
  await half.promise;
  first.kill('SIGKILL');
  await first.finished;
  isHeld = false;
  const { code, out } = await gantry('registry', 'mirror', url, folder);
  assert.equal(code, 0, out);
  assert.match(out, /12 versions of 1 packs: 7 copied .* 5 unchanged/);
  assert.equal(new Set(asked).size, 12);
  assert.equal(asked.length, 13);
});

test('what changes in the registry is followed; archives are fetched once', async (t) => {
  const documents = await documentsOf(pack(TOOLS), pack(TOOLS, '1.1.0'));
  const { folder, mirror, asked } = await scene(t, documents);
  await mirror();
  assert.equal(archivesIn(asked), 2);
  const burned = { served: { yanked: true, yankedReason: 'It burns.' } };
  for (const [address, bytes] of await documentsOf(pack(TOOLS, '1.0.0', burned), pack(TOOLS, '1.1.0')))
    documents.set(address, bytes);
  assert.match((await mirror()).out, /: 0 copied .*, 1 updated, 1 unchanged, 0 refused/);
  assert.equal(archivesIn(asked), 2);
  const index = await (await openFolderRegistry({ folder })).index(TOOLS);
  assert.deepEqual(index?.versions[0]?.yanked, { reason: 'It burns.' });
});

test('nothing is kept that is provably wrong; the rest is copied', async (t) => {
  const documents = await documentsOf(
    pack(TOOLS),
    pack(TOOLS, '1.1.0'),
    pack(TOOLS, '1.2.0', { method: 'none' }),
    pack(MAIL, '1.0.0', { served: { integrity: `sha256-${'A'.repeat(43)}=` } }),
    pack('vendor.other.tools'),
  );
  documents.set(`${AT}/-/1.1.0.sig`, Buffer.alloc(64));
  const { folder, mirror } = await scene(t, documents);
  const { code, out } = await mirror('--json');
  assert.equal(code, 1);
  const { refused, ...counts } = JSON.parse(out);
  assert.deepEqual([counts.copied, counts.unverified], [2, 1]);
  assert.deepEqual(refused.map(({ what, code: why }: Record<string, string>) => `${what} ${why}`).sort(), [
    `${MAIL}@1.0.0 pack_integrity_failure`,
    `${TOOLS}@1.1.0 pack_signature_invalid`,
    'vendor.other.tools@1.0.0 pack_namespace_unauthorized',
  ]);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.tgz'));
  assert.deepEqual(files.map((file) => path.basename(file)).sort(), ['1.0.0.tgz', '1.2.0.tgz']);
});

test('a version whose bytes changed is refused, and stays as it was', async (t) => {
  const documents = await documentsOf(pack(TOOLS));
  const { folder, mirror } = await scene(t, documents);
  await mirror();
  const file = path.join(folder, `${AT}/-/1.0.0.tgz`);
  const before = await readFile(file);
  for (const [address, bytes] of await documentsOf(pack(TOOLS, '1.0.0', { method: 'ed25519' })))
    documents.set(address, bytes);
  const { code, out } = await mirror();
  assert.equal(code, 1);
  assert.match(out, /vendor\.acme\.tools@1\.0\.0: conflict: The archive in the mirror has other bytes/);
  assert.deepEqual(await readFile(file), before);
  await rm(file);
  assert.equal((await mirror()).code, 0);
});

test('only the packs that are asked for come, and those that are there stay', async (t) => {
  const { folder, mirror } = await scene(t, await documentsOf(pack(TOOLS), pack(MAIL)));
  const listed = async () => JSON.parse(await readFile(path.join(folder, 'v1/index.json'), 'utf8'));
  assert.match((await mirror('--only', MAIL)).out, /1 versions of 1 packs/);
  assert.deepEqual(await listed(), { packs: [{ name: MAIL }] });
  assert.match(
    (await mirror('--only', 'vendor.nobody.*,vendor.acme.t*')).err,
    /neither a name nor a namespace/,
  );
  const { code, out, err } = await mirror('--only', 'vendor.nobody.*,vendor.acme.*');
  assert.equal(code, 1);
  assert.match(out + err, /vendor\.nobody\.\*.*The registry lists no such pack/);
  assert.deepEqual(await listed(), { packs: [{ name: MAIL }, { name: TOOLS }] });
});

test('a registry that stops answering is not asked for every version', async (t) => {
  const versions = Array.from({ length: 20 }, (_, index) => `1.${index}.0`);
  const documents = await documentsOf(...versions.map((version) => pack(TOOLS, version)));
  let archives = 0;
  const url = await serve(t, (address) => {
    if (!address.endsWith('.tgz')) return documents.get(address);
    archives++;
    return 'unavailable';
  });
  const { gantry } = await workspaceFor(t, {});
  const { code, err } = await gantry('registry', 'mirror', url, 'mirror');
  assert.equal(code, 2);
  assert.match(err, /Run the same command again to continue/);
  assert.equal(archives, 8);
});

test('a command line that cannot work says why', async (t) => {
  const one = await scene(t, await documentsOf(pack(TOOLS)));
  await one.mirror();
  const other = await serve(t, () => undefined);
  const refusals = [
    [[one.url], /Usage: gantry registry/],
    [[one.url, 'mirror', 'more'], /Unexpected argument "more"/],
    [[one.url, 'mirror', '--onyl', 'b'], /--onyl/],
    [['nowhere', 'mirror'], /no registry tree/],
    [['http://127.0.0.1:1', 'mirror'], /is not reached/],
    [[other, 'mirror'], /serves no index/],
  ] as const;
  for (const [args, said] of refusals) {
    const { code, err } = await one.gantry('registry', 'mirror', ...args);
    assert.equal(code, 2, err);
    assert.match(err, said);
  }
  const second = await scene(t, await documentsOf(pack(TOOLS)));
  const mixed = await one.gantry('registry', 'mirror', second.url, one.folder);
  assert.match(mixed.err, /is a mirror of http:\S+\. Use another folder/);
});
