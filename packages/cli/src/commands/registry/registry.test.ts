import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fetchPack, judgeFetched, openFolderRegistry } from '@gantry/packs';
import {
  type RegistryProcess,
  startRegistryProcess,
} from '../../../../registry/src/testing/registry-process.ts';
import { ADMIN_KEY, temporaryFolder } from '../../../../registry/src/testing/test-registry.ts';
import { edit } from '../pack/testing/pack-folder.ts';
import { type Workspace, workspaceFor } from './testing/registry-test.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: RegistryProcess;

before(async () => {
  folder = await temporaryFolder();
  server = await startRegistryProcess(folder.path);
});
after(async () => {
  await server.stop();
  await folder.remove();
});

const root = (t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Workspace> =>
  workspaceFor(t, { GANTRY_REGISTRY_URL: server.url, GANTRY_REGISTRY_KEY: ADMIN_KEY, ...env });

async function does({ gantry }: Workspace, ...args: string[]): Promise<string> {
  const { code, out, err } = await gantry(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}`);
  return out;
}

async function refuses({ gantry }: Workspace, said: RegExp, ...args: string[]): Promise<void> {
  const { code, err } = await gantry(...args);
  assert.equal(code, 2, args.join(' '));
  assert.match(err, said);
}

const versionOf = async (name: string, version: string) =>
  (await fetch(`${server.url}/v1/packs/${name}/-/${version}.json`)).json() as Promise<
    Record<string, unknown>
  >;

/** A pack of this owner, published as 0.1.0 with a key of its own. */
async function published(here: Workspace, owner: string): Promise<string> {
  const name = `vendor.${owner}.greeter`;
  await does(here, 'pack', 'new', name, '--out', 'pack');
  await does(here, 'pack', 'keygen', `${owner}-1`);
  const out = await does(here, 'registry', 'claim', `vendor.${owner}.*`, '--public-key', `${owner}-1.pub`);
  assert.match(out, new RegExp(`^vendor\\.${owner}\\.\\* belongs to `));
  await does(here, 'pack', 'publish', 'pack', '--signing-key', `${owner}-1.pem`);
  return name;
}

test('patterns in hints are quoted, since a shell would expand them', async (t) => {
  const empty = await temporaryFolder();
  t.after(empty.remove);
  const bare = await startRegistryProcess(empty.path);
  t.after(bare.stop);
  const here = await root(t, { GANTRY_REGISTRY_URL: bare.url });
  const hint = await does(here, 'registry', 'keys', 'ls');
  assert.match(hint, /^No keys yet\..* gantry registry claim 'vendor\.acme\.\*' --public-key/);
  for (const line of (await does(here, 'registry', '--help')).split('\n'))
    assert.doesNotMatch(line, /^ .*gantry .* vendor\.acme\.\*/);
});

test('a mistyped action is corrected, and a refusal has the code of the registry', async (t) => {
  const here = await root(t);
  await refuses(
    here,
    /Unknown action "strat" of gantry registry\. Did you mean start\?/,
    'registry',
    'strat',
  );
  await refuses(
    here,
    /Unknown action "mirorr" of gantry registry\. Did you mean mirror\?/,
    'registry',
    'mirorr',
    'a',
    'b',
  );
  const missing = ['registry', 'yank', 'vendor.acme.none@9.9.9', '--reason', 'x', '--json'];
  await refuses(here, /^{"error":"not_found","message":"The registry refused /, ...missing);
});

test('a version is yanked, deprecated and unpublished, and all of it taken back', async (t) => {
  const here = await root(t);
  const name = await published(here, 'acme');
  const version = `${name}@0.1.0`;
  await refuses(here, /Give a reason with --reason/, 'registry', 'yank', version);
  assert.match(await does(here, 'registry', 'yank', version, '--reason', 'It burns.'), /is yanked/);
  assert.equal((await versionOf(name, '0.1.0')).yankedReason, 'It burns.');
  assert.match(await does(here, 'registry', 'unyank', version), /is no longer yanked/);
  const old = ['--reason', 'Old.', '--superseded-by', 'vendor.acme.hello'];
  await does(here, 'registry', 'deprecate', version, ...old);
  const deprecated = await versionOf(name, '0.1.0');
  assert.deepEqual([deprecated.yanked, deprecated.supersededBy], [false, 'vendor.acme.hello']);
  await does(here, 'registry', 'undeprecate', version);
  assert.equal((await versionOf(name, '0.1.0')).deprecated, false);
  await does(here, 'registry', 'unpublish', version);
  assert.equal((await versionOf(name, '0.1.0')).error, 'not_found');
});

test('a key is rotated with the proof of the one before, and a mirror keeps both', async (t) => {
  const here = await root(t);
  const name = await published(here, 'globex');
  await does(here, 'pack', 'keygen', 'globex-2');
  await does(here, 'pack', 'keygen', 'stranger');
  const rotate = ['registry', 'keys', 'rotate', 'vendor.globex.*', '--public-key', 'globex-2.pub'];
  await refuses(here, /signature_invalid/, ...rotate, '--signing-key', 'stranger.pem');
  await refuses(
    here,
    /is a private key/,
    ...rotate.slice(0, -1),
    'globex-2.pem',
    '--signing-key',
    'globex-1.pem',
  );
  assert.match(await does(here, ...rotate, '--signing-key', 'globex-1.pem'), /globex-1 signed stays valid/);
  const listed = await does(here, 'registry', 'keys', 'ls');
  assert.match(listed, /globex-1 +retired +vendor\.globex\.\*/);
  assert.match(listed, /globex-2 +active +vendor\.globex\.\*/);
  const manifest = path.join(here.root, 'pack', 'pack.json');
  await edit(manifest, (text) => JSON.stringify({ ...JSON.parse(text), version: '0.2.0' }));
  await does(here, 'pack', 'publish', 'pack', '--signing-key', 'globex-2.pem');
  assert.equal((await versionOf(name, '0.2.0')).version, '0.2.0');

  await does(here, 'registry', 'mirror', server.url, 'mirror', '--only', name);
  const folder = path.join(here.root, 'mirror');
  const keychain = await fetch(`${server.url}/v1/packs/${name}/-/keychain`);
  assert.equal(
    await readFile(path.join(folder, `v1/packs/${name}/-/keychain`), 'utf8'),
    await keychain.text(),
  );
  const registry = await openFolderRegistry({ folder });
  for (const [version, key] of [
    ['0.1.0', 'globex-1'],
    ['0.2.0', 'globex-2'],
  ] as const) {
    const fetched = await fetchPack({ registry, name, version });
    const host = { policy: { mode: 'verified' }, isExact: false, now: Date.now() } as const;
    const judged = await judgeFetched(fetched, host);
    assert.equal(judged.trusted && judged.signedBy, key);
  }
});

test('a namespace is claimed first, and given a key later', async (t) => {
  const here = await root(t);
  const claimed = await does(here, 'registry', 'claim', 'vendor.initech.*');
  assert.match(claimed, /gantry registry keys add 'vendor\.initech\.\*' --public-key FILE/);
  await does(here, 'pack', 'keygen', 'initech-1');
  await refuses(
    here,
    /is not claimed by you.* gantry registry claim 'vendor\.initrode\.\*' --public-key FILE/,
    'registry',
    'keys',
    'add',
    'vendor.initrode.*',
    '--public-key',
    'initech-1.pub',
  );
  const more = { namespace: 'vendor.initech.*', publishers: ['partner'], contact: 'packs@initech.example' };
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
  const claims = `${server.url}/v1/host/gantry/registry/claims`;
  assert.equal((await fetch(claims, { method: 'POST', headers, body: JSON.stringify(more) })).status, 200);
  await does(here, 'registry', 'keys', 'add', 'vendor.initech.*', '--public-key', 'initech-1.pub');
  assert.match(await does(here, 'registry', 'keys', 'ls'), /initech-1 +active/);
  const listed = (await (await fetch(claims, { headers })).json()) as { claims: { namespace: string }[] };
  const kept = listed.claims.find(({ namespace }) => namespace === more.namespace);
  assert.partialDeepStrictEqual(kept, more);
  await refuses(here, /overlaps vendor\.initech\.\*/, 'registry', 'claim', 'vendor.initech.tools');
});

test('an advisory waits until what it is about is withdrawn', async (t) => {
  const here = await root(t);
  const name = await published(here, 'hooli');
  const advisory = {
    id: 'OPENWOP-2026-0042',
    publishedAt: '2026-06-01',
    severity: 'high',
    summary: 'It leaks.',
    affected: [{ packName: name, versions: '<0.2.0' }],
  };
  await writeFile(path.join(here.root, 'advisory.json'), JSON.stringify(advisory));
  const add = ['registry', 'advisories', 'add', 'advisory.json'];
  await refuses(here, /vendor\.hooli\.greeter@0\.1\.0\. Yank them first/, ...add);
  await does(here, 'registry', 'yank', `${name}@0.1.0`, '--reason', 'It leaks.');
  assert.match(await does(here, ...add), /OPENWOP-2026-0042 is published\./);
  assert.match(
    await does(here, 'registry', 'advisories', 'ls'),
    /OPENWOP-2026-0042 +high +2026-06-01 +It leaks/,
  );
});

test('what cannot work says what to do', async (t) => {
  const here = await root(t);
  const yank = ['registry', 'yank', 'vendor.acme.greeter@9.0.0', '--reason', 'x'];
  await refuses(here, /not_found/, ...yank);
  await refuses(
    here,
    /Write it as vendor\.acme\.greeter@1\.0\.0/,
    'registry',
    'unyank',
    'vendor.acme.greeter',
  );
  await refuses(here, /gantry registry has no option --raeson/, 'registry', 'yank', 'a@1', '--raeson', 'x');
  await refuses(here, /Unknown action "yakn".*yank/s, 'registry', 'yakn');
  await refuses(here, /Usage: gantry registry start/, 'registry');
  await refuses(here, /keys ls \| add/, 'registry', 'keys', 'rm');
  const nobody = await root(t, { GANTRY_REGISTRY_KEY: '' });
  await refuses(nobody, /Set GANTRY_REGISTRY_KEY/, ...yank);
  const stranger = await root(t, { GANTRY_REGISTRY_KEY: 'gk_wrong' });
  await refuses(stranger, /unauthenticated.*Keys of hosts do not work/s, ...yank);
  const nowhere = await root(t, { GANTRY_REGISTRY_URL: '' });
  await refuses(nowhere, /--registry http:\/\/127\.0\.0\.1:7071/, ...yank);
  await refuses(nowhere, /Cannot reach.*gantry registry start/s, ...yank, '--registry', 'http://127.0.0.1:1');
});
