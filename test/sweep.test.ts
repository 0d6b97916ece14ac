import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { openFolderRegistry, PACK_KINDS, type PackKind } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import {
  nodeManifest,
  type Published,
  publishedDocuments,
  writeDocuments,
} from '../packages/packs/src/registry/testing/memory-registry.ts';
import { keyPair, NOW } from '../packages/packs/src/testing/signed-pack.ts';
import { type SweepOptions, type SweepRow, summarize, sweepRegistry } from '../scripts/sweep-registry.ts';

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

const manifest = (name: string, change?: JsonObject): JsonObject => nodeManifest(name, '1.0.0', change);

async function registryOf(...packs: readonly Published[]): Promise<string> {
  const root = await mkdtemp(path.join(home, 'registry-'));
  await writeDocuments(await publishedDocuments(packs), root);
  return root;
}

async function sweep(root: string, more: Partial<SweepOptions> = {}): Promise<SweepRow[]> {
  const registry = await openFolderRegistry({ folder: root });
  const rows: SweepRow[] = [];
  for await (const row of sweepRegistry(registry, { ...options, ...more })) rows.push(row);
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
    await writeFile(path.join(root, 'v1/packs/vendor.acme.a/-/1.0.0.tgz'), 'no archive');
    const rows = await sweep(root);
    assert.deepEqual(
      rows.map(({ install }) => install.state),
      ['broken', 'installable', 'installable'],
    );
    assert.match(JSON.stringify(rows[0]), /pack_integrity_failure/);
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

  test('node types whose outputs break the schema of their pack are listed', async (t) => {
    const { openSandboxLoader } = await import(
      path.join(import.meta.dirname, '../scripts/sweep-sandbox.mjs')
    );
    const loader = await openSandboxLoader().catch((error: Error) => error);
    if (loader instanceof Error) return t.skip(loader.message);
    t.after(loader.stop);
    const published = (name: string, code: string): Published => ({
      manifest: manifest(name, {
        nodes: [
          {
            typeId: `${name}.echo`,
            version: '1.0.0',
            category: 'data',
            role: 'pure',
            outputSchemaRef: 'out.json',
          },
        ],
      }),
      files: {
        'index.mjs': `export const nodes = { '${name}.echo': () => (${code}) };`,
        'out.json': JSON.stringify({ type: 'object', properties: { n: { type: 'integer' } } }),
      },
    });
    const root = await registryOf(
      published('vendor.acme.keeps', '{ n: 1 }'),
      published('vendor.acme.breaks', "{ n: 'one' }"),
    );
    const rows = await sweep(root, { loadNodeType: loader.loadNodeType });
    const found = rows.flatMap(({ name, nodeType }) => (nodeType ? [[name, nodeType]] : []));
    assert.deepEqual(found, [
      ['vendor.acme.breaks', { state: 'ran', misfit: '/n must be integer' }],
      ['vendor.acme.keeps', { state: 'ran' }],
    ]);
    assert.equal(summarize(rows).breakOutputSchema, 1);
  });

  test('a folder that is no registry is refused by name', async () => {
    await assert.rejects(openFolderRegistry({ folder: home }), /no registry tree/);
  });
});
