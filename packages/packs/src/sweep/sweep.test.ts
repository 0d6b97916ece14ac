import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { PACK_KINDS, type PackKind } from '../manifest/kinds.ts';
import { acmeKey, acmeKeys, keyPair, NOW, type PackOptions, signedPack } from '../testing/signed-pack.ts';
import { openRegistryTree } from './registry-tree.ts';
import { summarize } from './summary.ts';
import { type SweepOptions, type SweepRow, sweepRegistry } from './sweep.ts';

const home = await mkdtemp(path.join(tmpdir(), 'gantry-sweep-'));
after(() => rm(home, { recursive: true, force: true }));

const options: SweepOptions = {
  now: NOW,
  offer: () => ({
    protocolVersion: '1.1.0',
    capabilities: new Map(),
    languages: new Set(['javascript']),
    wasmAbiVersions: [],
    grants: [],
    kinds: new Set(Object.keys(PACK_KINDS) as PackKind[]),
    builtInTypeIds: new Set(),
  }),
};

const manifest = (name: string, change: JsonObject = {}): JsonObject => ({
  name,
  version: '1.0.0',
  engines: { openwop: '>=1.0.0' },
  nodes: [{ typeId: `${name}.echo`, version: '1.0.0', category: 'data', role: 'pure' }],
  runtime: { language: 'javascript', entry: 'index.mjs' },
  ...change,
});

interface Published extends PackOptions {
  readonly served?: JsonObject;
}

async function registryOf(...packs: readonly Published[]): Promise<string> {
  const root = await mkdtemp(path.join(home, 'registry-'));
  const { publicKey: _, ...key } = acmeKey;
  const signingKeys = [{ ...key, publicKeyUrl: '/keys/acme-1.pub', algorithm: 'ed25519' }];
  await put(root, '.well-known/openwop-registry.json', JSON.stringify({ signingKeys }));
  await put(root, 'keys/acme-1.pub', acmeKeys.publicKey);
  for (const published of packs) {
    const pack = await signedPack(published);
    const at = `v1/packs/${pack.name}/-/${pack.version}`;
    await put(root, `${at}.tgz`, pack.archive);
    await put(root, `${at}.sig`, pack.detachedSignature ?? '');
    await put(root, `${at}.json`, JSON.stringify({ integrity: pack.integrity, ...published.served }));
  }
  return root;
}

async function put(root: string, file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), content);
}

async function sweep(root: string, more: Partial<SweepOptions> = {}): Promise<SweepRow[]> {
  const tree = await openRegistryTree(root);
  const rows: SweepRow[] = [];
  for await (const row of sweepRegistry(tree, { ...options, ...more })) rows.push(row);
  return rows;
}

describe('sweep', () => {
  test('a row for each version and each node type, and a summary', async () => {
    const root = await registryOf(
      { manifest: manifest('vendor.acme.good') },
      { manifest: manifest('vendor.acme.needs', { peerDependencies: { 'host.kanban': 'supported' } }) },
      { manifest: manifest('vendor.acme.old'), served: { yanked: true, yankedReason: 'old' } },
    );
    const rows = await sweep(root);
    assert.deepEqual(
      rows.map(({ name, typeId, install }) => [name, typeId, install.state]),
      [
        ['vendor.acme.good', undefined, 'installable'],
        ['vendor.acme.good', 'vendor.acme.good.echo', 'installable'],
        ['vendor.acme.needs', undefined, 'refused'],
        ['vendor.acme.needs', 'vendor.acme.needs.echo', 'refused'],
        ['vendor.acme.old', undefined, 'yanked'],
        ['vendor.acme.old', 'vendor.acme.old.echo', 'yanked'],
      ],
    );
    const { versions, verified, installable, nodeTypes, isSound } = summarize(rows);
    assert.deepEqual(
      { versions, verified, installable, nodeTypes, isSound },
      { versions: 3, verified: 3, installable: 1, nodeTypes: 2, isSound: true },
    );
  });

  test('a forged signature, another archive, a broken manifest and a foreign name are not sound', async () => {
    for (const published of [
      { manifest: manifest('vendor.acme.forged'), keys: keyPair() },
      { manifest: manifest('vendor.acme.other'), served: { integrity: 'sha256-x' } },
      { manifest: manifest('vendor.acme.broken', { runtime: 'none' }) },
    ]) {
      const rows = await sweep(await registryOf(published));
      assert.equal(summarize(rows).isSound, false, JSON.stringify(rows));
    }
  });

  test('an archive that cannot be read is a row, not the end', async () => {
    const root = await registryOf(
      { manifest: manifest('vendor.acme.a') },
      { manifest: manifest('vendor.acme.b') },
    );
    await put(root, 'v1/packs/vendor.acme.a/-/1.0.0.tgz', 'no archive');
    const rows = await sweep(root);
    assert.deepEqual(
      rows.map(({ install }) => install.state),
      ['broken', 'installable', 'installable'],
    );
    assert.match(JSON.stringify(rows[0]), /tarball_gunzip_failed/);
  });

  test('node types of installable packs are loaded by whoever can', async () => {
    const root = await registryOf(
      { manifest: manifest('vendor.acme.good') },
      { manifest: manifest('vendor.acme.needs', { peerDependencies: { kanban: 'supported' } }) },
    );
    const rows = await sweep(root, {
      loadNodeType: async ({ manifest: { name }, archive }, typeId) => {
        assert.ok(archive.files.has('index.mjs'));
        return typeId === `${name}.echo` ? { state: 'ran' } : { state: 'failed', reason: typeId };
      },
    });
    assert.deepEqual(
      rows.map(({ nodeType }) => nodeType?.state),
      [undefined, 'ran', undefined, undefined],
    );
    assert.equal(summarize(rows).ran, 1);
  });

  test('a folder that is no registry is refused by name', async () => {
    await assert.rejects(openRegistryTree(home), /no registry tree/);
  });
});
