import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import { Registries } from '../registry/registries.ts';
import {
  documentsOf,
  type ManifestsByName,
  type MemoryRegistryOptions,
  memoryRegistry,
} from '../registry/testing/memory-registry.ts';
import { installOrder } from './install-order.ts';
import { type Resolution, type ResolveOptions, resolvePacks } from './resolve.ts';

const A = 'vendor.acme.a';
const B = 'vendor.acme.b';
const X = 'vendor.acme.x';
const on = (dependencies: JsonObject): JsonObject => ({ dependencies });

const registriesOf = (manifests: ManifestsByName, options?: MemoryRegistryOptions): Registries =>
  new Registries({ registries: [memoryRegistry(documentsOf(manifests), options)] });

function resolve(
  manifests: ManifestsByName,
  roots: Record<string, string>,
  more: Partial<ResolveOptions> = {},
): Promise<Resolution> {
  const wanted = Object.entries(roots).map(([name, range]) => ({
    name,
    range,
    requestedBy: 'workflow greet',
  }));
  return resolvePacks({ roots: wanted, registries: registriesOf(manifests), ...more });
}

const chosen = ({ packs }: Resolution): string[] => packs.map(({ name, version }) => `${name}@${version}`);

async function failure(work: Promise<unknown>): Promise<OpenwopError> {
  const error = await work.then(
    () => assert.fail('should fail'),
    (thrown: unknown) => thrown,
  );
  return error instanceof OpenwopError ? error : assert.fail(String(error));
}

const conflict: ManifestsByName = {
  [A]: { '1.0.0': on({ [X]: '^1.0.0' }) },
  [B]: { '1.0.0': on({ [X]: '^2.0.0' }) },
  [X]: { '1.0.0': {}, '1.2.0': {}, '2.0.0': {} },
};

describe('what is chosen', () => {
  test('the highest version that all who ask take, once for all of them', async () => {
    const manifests = { ...conflict, [B]: { '1.0.0': on({ [X]: '<1.2.0 || ^2.0.0' }) } };
    const resolution = await resolve(manifests, { [A]: '*', [B]: '1.0.0' });
    assert.deepEqual(chosen(resolution), [`${A}@1.0.0`, `${B}@1.0.0`, `${X}@1.0.0`]);
    const [, , shared] = resolution.packs;
    assert.deepEqual(shared?.requestedBy, [
      { requestedBy: `${A}@1.0.0`, range: '^1.0.0' },
      { requestedBy: `${B}@1.0.0`, range: '<1.2.0 || ^2.0.0' },
    ]);
    assert.deepEqual(resolution.packs[0]?.dependencies, { [X]: '1.0.0' });
  });

  test('what is installed asks too, and a dependency stays where it is as long as it fits', async () => {
    const installed = new Map([
      [A, { version: '1.0.0', dependencies: { [X]: '^1.0.0' } }],
      [X, { version: '1.0.0' }],
    ]);
    const open = { ...conflict, [B]: { '1.0.0': on({ [X]: '*' }), '1.1.0': on({ [X]: '>=1.2.0' }) } };
    const kept = await resolve(open, { [B]: '1.0.0' }, { installed });
    assert.deepEqual([chosen(kept), kept.kept], [[`${B}@1.0.0`], [{ name: X, version: '1.0.0' }]]);
    const moved = await resolve(open, { [B]: '*' }, { installed });
    assert.deepEqual(chosen(moved), [`${B}@1.1.0`, `${X}@1.2.0`]);
    const { code, details } = await failure(resolve(conflict, { [B]: '*' }, { installed }));
    assert.deepEqual([code, details?.packName], ['pack_dependency_conflict', X]);
    const newer = { ...conflict, [A]: { '2.0.0': on({ [X]: '^2.0.0' }) } };
    const both = await resolve(newer, { [A]: '*', [B]: '*' }, { installed });
    assert.deepEqual(chosen(both), [`${A}@2.0.0`, `${B}@1.0.0`, `${X}@2.0.0`]);
  });

  test('a pack that nobody asks for any more leaves, also when that shows in the round that chose it', async () => {
    const manifests = {
      [A]: { '1.1.0': {}, '2.0.0': on({ [X]: '*' }) },
      [B]: { '1.0.0': on({ [A]: '~1.1.0' }) },
      [X]: { '1.0.0': {} },
    };
    assert.deepEqual(chosen(await resolve(manifests, { [A]: '*', [B]: '*' })), [`${A}@1.1.0`, `${B}@1.0.0`]);
  });

  test('a prerelease only where the range names one', async () => {
    const manifests: ManifestsByName = { [A]: { '1.2.3-beta.1': {}, '1.2.2': {} } };
    assert.deepEqual(chosen(await resolve(manifests, { [A]: '^1.2.0' })), [`${A}@1.2.2`]);
    assert.deepEqual(chosen(await resolve(manifests, { [A]: '^1.2.3-beta' })), [`${A}@1.2.3-beta.1`]);
  });

  test('a withdrawn version only by an exact pin, with a warning', async () => {
    const manifests: ManifestsByName = {
      [A]: { '1.0.0': {}, '1.1.0': { yanked: true, yankedReason: 'leaks keys' } },
    };
    assert.deepEqual(chosen(await resolve(manifests, { [A]: '^1.0.0' })), [`${A}@1.0.0`]);
    const pinned = await resolve(manifests, { [A]: '1.1.0' });
    assert.deepEqual(chosen(pinned), [`${A}@1.1.0`]);
    assert.match(pinned.warnings.join(), /1\.1\.0 is yanked: leaks keys/);
    assert.equal(pinned.packs[0]?.isExact, true);
  });

  test('a version that only its manifest calls withdrawn is left out as well', async () => {
    const documents = documentsOf({ [A]: { '1.0.0': {}, '1.1.0': { yanked: { reason: 'new' } } } });
    const versions = [{ version: '1.0.0' }, { version: '1.1.0' }];
    documents.set(`/v1/packs/${A}`, Buffer.from(JSON.stringify({ versions })));
    const registries = new Registries({ registries: [memoryRegistry(documents)] });
    assert.deepEqual(chosen(await resolve({}, { [A]: '*' }, { registries })), [`${A}@1.0.0`]);
  });

  test('a deprecated version is chosen, and the warning quotes reason and successor', async () => {
    const flat = { deprecated: true, deprecationReason: 'slow', supersededBy: B };
    const nested = { deprecation: { deprecated: true, reason: 'slow', supersededBy: B } };
    for (const said of [flat, nested]) {
      const { warnings } = await resolve({ [A]: { '1.0.0': said } }, { [A]: '*' });
      assert.deepEqual(warnings, [`${A}@1.0.0 is deprecated: slow; superseded by ${B}.`]);
    }
    const { warnings } = await resolve({ [A]: { '1.0.0': { deprecated: true } } }, { [A]: '*' });
    assert.deepEqual(warnings, [`${A}@1.0.0 is deprecated: no reason given.`]);
  });

  test('an override beats the ranges', async () => {
    const { packs, overrides } = await resolve(
      conflict,
      { [A]: '*', [B]: '*' },
      { overrides: { [X]: '1.2.0' } },
    );
    assert.equal(packs.find(({ name }) => name === X)?.version, '1.2.0');
    assert.deepEqual(overrides, { [X]: '1.2.0' });
  });
});

describe('why it fails', () => {
  test('pack_dependency_conflict names the pack, who asks, and the way from the root', async () => {
    const error = await failure(resolve(conflict, { [A]: '*', [B]: '*' }));
    assert.equal(error.code, 'pack_dependency_conflict');
    assert.deepEqual(error.details, {
      packName: X,
      conflictingRanges: [
        { requestedBy: `${A}@1.0.0`, range: '^1.0.0' },
        { requestedBy: `${B}@1.0.0`, range: '^2.0.0' },
      ],
    });
    assert.match(error.message, /workflow greet → vendor\.acme\.a@1\.0\.0 asks for \^1\.0\.0/);
    assert.match(error.message, /workflow greet → vendor\.acme\.b@1\.0\.0 asks for \^2\.0\.0/);
    assert.match(error.message, /2\.0\.0, 1\.2\.0, 1\.0\.0/);
  });

  test('an override that nobody takes is a conflict', async () => {
    const manifests = { ...conflict, [X]: { ...conflict[X], '3.0.0': {} } };
    const error = await failure(resolve(manifests, { [A]: '*', [B]: '*' }, { overrides: { [X]: '3.0.0' } }));
    assert.equal(error.code, 'pack_dependency_conflict');
    assert.equal(error.details?.override, '3.0.0');
  });

  test('pack_dependency_cycle names the circle', async () => {
    const manifests: ManifestsByName = {
      [A]: { '1.0.0': on({ [B]: '*' }) },
      [B]: { '1.0.0': on({ [X]: '*' }) },
      [X]: { '1.0.0': on({ [A]: '*' }) },
    };
    const error = await failure(resolve(manifests, { [A]: '*' }));
    assert.equal(error.code, 'pack_dependency_cycle');
    assert.deepEqual(error.details, { cycle: [A, B, X, A] });
    const itself = await failure(resolve({ [A]: { '1.0.0': on({ [A]: '*' }) } }, { [A]: '*' }));
    assert.deepEqual(itself.details, { cycle: [A, A] });
  });

  test('pack_version_not_found names the range, who asked and what there is', async () => {
    const error = await failure(
      resolve({ ...conflict, [A]: { '1.0.0': on({ [X]: '^7.0.0' }) } }, { [A]: '*' }),
    );
    assert.equal(error.code, 'pack_version_not_found');
    assert.deepEqual(error.details, {
      packName: X,
      range: '^7.0.0',
      requestedBy: `${A}@1.0.0`,
      available: ['2.0.0', '1.2.0', '1.0.0'],
    });
    const unknown = await failure(resolve({}, { [A]: '*' }));
    assert.match(unknown.message, /Asked: https:\/\/packs\.example/);
    const yanked = await failure(resolve({ [A]: { '1.0.0': { yanked: true } } }, { [A]: '*' }));
    assert.match(yanked.message, /Withdrawn: 1\.0\.0; only an exact pin gets one/);
  });

  test('what is no range, no name or no version is refused at the door', async () => {
    assert.match(
      (await failure(resolve({}, { [A]: 'newest' }))).message,
      /"newest", which is not a version range/,
    );
    assert.equal((await failure(resolve({}, { '../up': '*' }))).code, 'invalid_pack_name');
    assert.equal((await failure(resolve({}, {}, { overrides: { [A]: '^1' } }))).code, 'invalid_version');
  });

  test('a manifest with a broken range, or that of another pack, is not believed', async () => {
    for (const manifest of [on({ [X]: 'newest' }), on({ x: '*' }), { name: B }, { integrity: 'md5-x' }]) {
      const error = await failure(resolve({ [A]: { '1.0.0': manifest } }, { [A]: '*' }));
      assert.equal(error.code, 'pack_manifest_invalid', JSON.stringify(manifest));
    }
  });
});

describe('a thousand packs', () => {
  const nameOf = (at: number): string => `vendor.acme.p${String(at).padStart(4, '0')}`;
  const manifests: ManifestsByName = Object.fromEntries(
    Array.from({ length: 1000 }, (_, at) => {
      const further = [at + 1, at + 7, at * 2 + 3].filter((next) => next < 1000 && next > at);
      const dependencies = Object.fromEntries(further.map((next) => [nameOf(next), '^1.0.0']));
      return [nameOf(at), { '1.0.0': on(dependencies), '1.1.0': on(dependencies), '2.0.0': {} }];
    }),
  );

  test('resolve soon, a few questions at a time', async () => {
    let open = 0;
    let most = 0;
    const before = async (): Promise<void> => {
      most = Math.max(most, ++open);
      await new Promise((done) => setImmediate(done));
      open--;
    };
    const registries = registriesOf(manifests, { before });
    const startedAt = performance.now();
    const { packs } = await resolve({}, { [nameOf(0)]: '^1.0.0' }, { registries });
    const tookMs = performance.now() - startedAt;
    assert.equal(packs.length, 1000);
    assert.ok(packs.every(({ version }) => version === '1.1.0'));
    assert.ok(most > 4 && most <= 32, `${most} at once`);
    assert.ok(tookMs < 30_000, `${tookMs} ms`);
    const order = installOrder(packs).map(({ name }) => name);
    assert.deepEqual(
      order.toReversed(),
      packs.map(({ name }) => name),
    );
  });
});
