import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { Registries } from '../registry/registries.ts';
import {
  documentsOf,
  type ManifestsByName,
  memoryRegistry,
  PUBLISHED_AT,
  publishedDocuments,
} from '../registry/testing/memory-registry.ts';
import { type Resolution, resolvePacks } from '../resolve/resolve.ts';
import { failsWith, lockFrom, published, SHARED, TOOLS } from '../testing/locks.ts';
import { lockOf } from './lock-of.ts';
import { type PackLock, readLock, writeLock } from './lockfile.ts';

const documents = await publishedDocuments(published);
const lock = await lockFrom(documents);
const text = writeLock(lock);

describe('what is written', () => {
  test('packs by name, pins of dependencies, peers, and a signature that covers the archive', () => {
    assert.deepEqual(
      lock.packs.map(({ name, version, dependencies }) => [name, version, dependencies]),
      [
        [SHARED, '1.2.0', {}],
        [TOOLS, '1.0.0', { [SHARED]: '1.2.0' }],
      ],
    );
    const [shared, tools] = lock.packs;
    assert.equal(shared?.signature, undefined);
    assert.equal(tools?.signature?.algorithm, 'ed25519');
    assert.match(tools?.signature?.publicKey ?? '', /^MCowBQYDK2VwAyEA/);
    assert.deepEqual(tools?.peerDependencies, { 'host.kanban': 'supported' });
    assert.equal(tools?.resolved, `https://packs.example/v1/packs/${TOOLS}/-/1.0.0.tgz`);
  });

  test('the time is that of the newest publication, not of the day', () => {
    assert.equal(lock.generatedAt, new Date(PUBLISHED_AT).toISOString());
  });

  test('two spaces, one newline, and reading gives back what was written', () => {
    assert.match(text, /^\{\n {2}"lockfileVersion": 1,\n/);
    assert.ok(text.endsWith('}\n') && !text.endsWith('\n\n'));
    assert.equal(writeLock(readLock(text)), text);
  });

  test('it satisfies the public schema', { skip: skipWithoutPublicData }, () => {
    const issues = publicValidator('pack-lockfile.schema.json');
    assert.deepEqual(issues?.(JSON.parse(text)), []);
  });

  test('what a later version adds at the top is kept, also when the lockfile is made anew', async () => {
    const later = readLock(
      text.replace('"lockfileVersion": 1,', '"lockfileVersion": 1, "peerOverrides": {"a": "b"},'),
    );
    assert.match(writeLock(later), /"peerOverrides": \{\n {4}"a": "b"\n {2}\}\n\}\n$/);
    const registries = new Registries({ registries: [memoryRegistry(documents)] });
    const anew = await lockOf({ packs: [], kept: [], overrides: {}, warnings: [] }, registries, later);
    assert.match(writeLock(anew), /peerOverrides/);
  });
});

describe('the same input gives the same bytes', () => {
  const NAMES = ['vendor.acme.a', 'vendor.acme.b', 'vendor.acme.c', 'vendor.acme.d'];
  const manifests: ManifestsByName = {
    'vendor.acme.a': { '1.0.0': { dependencies: { 'vendor.acme.d': '*', 'vendor.acme.c': '^1.0.0' } } },
    'vendor.acme.b': { '1.0.0': { dependencies: { 'vendor.acme.d': '<2.0.0' } }, '0.9.0': {} },
    'vendor.acme.c': { '1.0.0': {}, '1.1.0': { dependencies: { 'vendor.acme.d': '*' } } },
    'vendor.acme.d': { '1.0.0': { publishedAt: '2026-05-09T00:00:00Z' }, '2.0.0': {}, '1.5.0': {} },
  };

  test('whatever the order of the wishes and of the answers', async () => {
    const texts = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(NAMES, { minLength: 4 }),
        fc.infiniteStream(fc.nat(3)),
        async (names, waits) => {
          const before = async (): Promise<void> => {
            for (let turns: number = waits.next().value ?? 0; turns > 0; turns--)
              await new Promise((done) => setImmediate(done));
          };
          const shuffled = Object.fromEntries(names.map((name) => [name, manifests[name] ?? {}]));
          const registries = new Registries({
            registries: [memoryRegistry(documentsOf(shuffled), { before })],
          });
          const roots = names.map((name) => ({ name, range: '*', requestedBy: 'setting' }));
          const resolution: Resolution = await resolvePacks({ roots, registries });
          texts.add(writeLock(await lockOf(resolution, registries)));
          assert.equal(texts.size, 1);
        },
      ),
      { numRuns: 60 },
    );
    assert.match([...texts].join(), /"name": "vendor\.acme\.d",\n {6}"version": "1\.5\.0"/);
  });
});

describe('what is refused', () => {
  const broken = async (change: string | ((lock: PackLock) => object)) => {
    const source = typeof change === 'string' ? change : JSON.stringify(change(readLock(text)), null, 2);
    return failsWith(() => readLock(source), 'pack_lockfile_invalid');
  };

  test('broken JSON, with line and column', async () => {
    const error = await broken('{\n  "lockfileVersion": 1,\n  oops\n}');
    assert.deepEqual(error.details, { path: '', line: 3, column: 3 });
    assert.match(error.message, /line 3, column 3/);
  });

  test('members that do not fit, with their position', async () => {
    const error = await broken((good) => ({ ...good, packs: [{ ...good.packs[0], integrity: 'sha1-x' }] }));
    assert.equal(error.details?.path, '/packs/0/integrity');
    assert.equal(typeof error.details?.line, 'number');
    for (const change of [
      (good: PackLock) => ({ ...good, packs: [{ ...good.packs[0], extra: true }] }),
      (good: PackLock) => ({ ...good, packs: [{ ...good.packs[0], name: 'tools' }] }),
      (good: PackLock) => ({ ...good, packs: 'none' }),
      ({ generatedAt: _, ...rest }: PackLock) => rest,
    ])
      await broken(change);
    await broken('[]');
  });

  test('a pack that is listed twice, and a lockfile of a later kind', async () => {
    await broken((good) => ({ ...good, packs: [...good.packs, ...good.packs] }));
    assert.match((await broken((good) => ({ ...good, lockfileVersion: 2 }))).message, /this reader knows 1/);
  });
});
