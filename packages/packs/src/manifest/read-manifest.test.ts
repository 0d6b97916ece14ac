import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { changed, issuesOf, manifestOf, manifests, written } from '../testing/manifests.ts';
import { readManifest } from './read-manifest.ts';

const PUBLIC_SCHEMAS = {
  node: 'node-pack-manifest',
  'workflow-chain': 'workflow-chain-pack-manifest',
  prompt: 'prompt-pack-manifest',
  'artifact-type': 'artifact-type-pack-manifest',
  card: 'chat-card-pack-manifest',
  connection: 'connection-pack-manifest',
} as const;

describe('manifests of every kind', () => {
  for (const [kind, manifest] of Object.entries(manifests))
    test(`a pack of kind ${kind} is read without a warning`, () => {
      assert.deepEqual(readManifest(written(manifest)), {
        kind: 'manifest',
        manifest: { ...manifest, kind },
        warnings: [],
      });
    });

  for (const [kind, schema] of Object.entries(PUBLIC_SCHEMAS))
    test(`the sample of kind ${kind} is what the public schema means`, {
      skip: skipWithoutPublicData,
    }, () => {
      const sample = manifests[kind as keyof typeof PUBLIC_SCHEMAS];
      assert.deepEqual(publicValidator(`${schema}.schema.json`)?.(sample), []);
    });

  test('a manifest without kind is one of nodes', () => {
    assert.equal(manifestOf(manifests.node).kind, 'node');
  });

  test('x-openwop-form hints in a schema of a chain are left alone', () => {
    const parameters = { type: 'object', properties: { m: { 'x-openwop-form': { kind: 'model-picker' } } } };
    const manifest = manifestOf(changed(manifests['workflow-chain'], '/chains/0/parameters', parameters));
    assert.ok(manifest.kind === 'workflow-chain');
    assert.deepEqual(manifest.chains[0]?.parameters, parameters);
  });
});

describe('refusals point at the file', () => {
  test('a line break in a name hides nothing behind it', () => {
    for (const [manifest, at] of [
      [manifests.node, '/dependencies'],
      [manifests.node, '/peerDependencies'],
      [manifests.node, '/peerDependenciesMeta'],
      [manifests.card, '/cards/0/prompt/placeholderMapping'],
    ] as const) {
      const issues = issuesOf(changed(manifest, at, { topic: 'topic', 'a\nb': 5 }));
      assert.ok(
        issues.some(({ path }) => path === `${at}/a\nb`),
        JSON.stringify(issues),
      );
    }
  });

  test('everything at once, each with pointer, line and column', () => {
    const text = written(
      changed(changed(changed(manifests.node, '/version', 'one'), '/nodes/0/role', 7), '/surplus', true),
    );
    const lines = text.split('\n');
    const issues = issuesOf(text);
    assert.deepEqual(issues.map(({ path }) => path).sort(), ['/nodes/0/role', '/surplus', '/version']);
    for (const { path, line, column } of issues) {
      const key = path.slice(path.lastIndexOf('/') + 1);
      assert.match(lines[line - 1] ?? '', new RegExp(`"${key}": `));
      assert.equal(lines[line - 1]?.indexOf(': '), column - 3, 'the column is that of the value');
    }
  });

  test('more mistakes than a validator tells by default', () => {
    const nodes = Array.from({ length: 20 }, (_, index) => ({
      typeId: `a.b${index}`,
      version: '1',
      role: 'pure',
    }));
    assert.equal(
      issuesOf(changed(manifests.node, '/nodes', nodes)).filter(({ code }) => code === 'invalid_manifest')
        .length,
      20,
    );
  });

  test('a file that is no UTF-8, too large or too deep', () => {
    assert.equal(issue(readManifest(Buffer.from([0xff, 0xfe]))), 'tarball_manifest_not_json');
    assert.equal(issue(readManifest(`"${'x'.repeat(300_000)}"`)), 'tarball_manifest_too_large');
    assert.equal(issue(readManifest('['.repeat(1000))), 'tarball_manifest_not_json');
    assert.equal(issue(readManifest('[]')), 'invalid_manifest');
  });

  test('mutated manifests never crash the reader', () => {
    const texts = Object.values(manifests).map(written);
    const mutation = fc.tuple(fc.nat(), fc.nat(40), fc.string({ maxLength: 12, unit: 'binary' }));
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        (text, mutations) => {
          const spoilt = mutations.reduce((current, [at, cut, put]) => {
            const start = at % (current.length + 1);
            return current.slice(0, start) + put + current.slice(start + cut);
          }, text);
          const reading = readManifest(spoilt);
          if (reading.kind === 'refused') assert.ok(reading.issues.length > 0);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  test('any JSON in any place is read or refused', () => {
    const places = [
      '/nodes',
      '/nodes/0',
      '/agents/0/handoff',
      '/runtime',
      '/connector',
      '/signing',
      '/kind',
      '/engines',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 3 }), (at, value) => {
        const reading = readManifest(written(changed(manifests.node, at, value)));
        assert.ok(reading.kind === 'manifest' || reading.issues.length > 0);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

const issue = (reading: ReturnType<typeof readManifest>): string | undefined =>
  reading.kind === 'refused' ? reading.issues[0]?.code : undefined;
