import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArchive, readManifest } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { packArchive, type TestPack } from './testing/pack-archive.ts';
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
        ...{ id: 'acme', displayName: 'Acme' },
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
        ...{ configSchemaRef: 'schemas/good.json', inputSchemaRef: './schemas/bad.json' },
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
