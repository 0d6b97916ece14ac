/** Quotas that the operator set, for all tenants or for one, on both backends. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Data } from './calls/data.ts';
import type { BackendSettings } from './open-port.ts';
import { readQuota } from './quotas.ts';
import { freshFolder } from './testing/data-dir.ts';
import { openTestPostgres, postgresSkip } from './testing/postgres.ts';
import { openTestSurfaces } from './testing/surfaces.ts';
import { callGateOf, nodeOf } from './testing/test-call-gate.ts';

test('an entry names a quota, a tenant if not all, and a size', () => {
  assert.deepEqual(readQuota('kv=512MiB'), { name: 'kv', bytes: 512 * 2 ** 20 });
  assert.deepEqual(readQuota('blobs@acme=2TiB'), { name: 'blobs', tenant: 'acme', bytes: 2 * 2 ** 40 });
  for (const [text, said] of [
    ['blob=1GiB', /is not a quota\. Did you mean blobs\?/],
    ['kv', /is not a quota/],
    ['kv=lots', /has no size\. Sizes are such as 512MiB/],
    ['kv=0KiB', /has no size/],
    ['kv@=1KiB', /is not a quota/],
  ] as const)
    assert.throws(() => readQuota(text), said);
});

const text = 'x'.repeat(40_000);
/** Each takes more than 32 KiB. */
const WRITES: Readonly<Record<string, readonly [path: string, input: Data]>> = {
  kv: ['storage.kv.put', { key: 'a', value: text }],
  documents: ['db.nosql.insert', { collection: 'c', doc: { text } }],
  vectors: [
    'db.vector.upsert',
    {
      collection: 'c',
      vectors: [
        {
          id: 'a',
          embedding: Array.from({ length: 4_000 }, () => 1),
          metadata: { text: 'x'.repeat(15_000) },
        },
        { id: 'b', embedding: Array.from({ length: 4_000 }, () => 1) },
      ],
    },
  ],
  search: ['db.search.index', { index: 'i', docs: [{ id: 'a', fields: { text } }] }],
  queue: ['queueBus.publish', { topic: 't', payload: text }],
  blobs: ['storage.blob.put', { key: 'a', bytes: Buffer.from(text) }],
  files: ['fs.write', { path: 'a', content: text, encoding: 'utf8' }],
};

async function holds(t: TestContext, backends: BackendSettings): Promise<void> {
  const folder = freshFolder();
  t.after(folder.remove);
  const small = Object.keys(WRITES).map((name) => readQuota(`${name}@small=32KiB`));
  const opened = await openTestSurfaces(folder.path, {
    backends,
    quotas: [...small, readQuota('kv=16KiB'), readQuota('kv@acme=1MiB')],
  });
  t.after(opened.close);
  const refused = async (tenant: string): Promise<string[]> => {
    const call = nodeOf(callGateOf(opened.surfaces), { tenant });
    const names: string[] = [];
    for (const [name, [path, input]] of Object.entries(WRITES))
      await call(path, input).catch((error: Error) => {
        assert.match(error.message, /quota|full|room/i, `${name}: ${error.message}`);
        names.push(name);
      });
    return names;
  };
  assert.deepEqual(await refused('acme'), []);
  assert.deepEqual(await refused('small'), Object.keys(WRITES));
  assert.deepEqual(await refused('another'), ['kv'], 'the entry for all');
}

test('in the data folder', (t) => holds(t, {}));

test('in PostgreSQL', { skip: postgresSkip }, async (t) => {
  const { url, close } = await openTestPostgres();
  t.after(close);
  await holds(t, { kv: url, documents: url, search: url, queue: url, blobs: url });
});
