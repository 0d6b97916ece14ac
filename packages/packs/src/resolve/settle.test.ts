import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import { Registries } from '../registry/registries.ts';
import { documentsOf, memoryRegistry } from '../registry/testing/memory-registry.ts';
import { type Candidate, candidatesOf, type Range, readRange, suits } from './range.ts';
import { resolvePacks } from './resolve.ts';

type Version = { dependencies?: Record<string, string>; yanked?: { reason?: string } };
/** Versions by pack. */
type Universe = Record<string, Record<string, Version>>;
type Ranges = Record<string, string>;

const [A, B, C, D, E] = ['a', 'b', 'c', 'd', 'e'].map((letter) => `vendor.acme.${letter}`) as [
  string,
  string,
  string,
  string,
  string,
];
const NAMES = [A, B, C, D, E];

async function resolve(packs: Universe, wanted: Ranges, overrides: Ranges = {}): Promise<Ranges> {
  const registries = new Registries({ registries: [memoryRegistry(documentsOf(packs))] });
  const roots = Object.entries(wanted).map(([name, range]) => ({ name, range, requestedBy: 'root' }));
  const resolution = await resolvePacks({ roots, registries, overrides });
  return Object.fromEntries(resolution.packs.map(({ name, version }) => [name, version]));
}

/** The versions, or the error. */
const outcome = (...args: Parameters<typeof resolve>): Promise<Ranges | OpenwopError> =>
  resolve(...args).catch((error: unknown) => (error instanceof OpenwopError ? error : Promise.reject(error)));

async function fails(...args: Parameters<typeof resolve>): Promise<OpenwopError> {
  const found = await outcome(...args);
  return found instanceof OpenwopError ? found : assert.fail(`found ${JSON.stringify(found)}`);
}

const rangeOf = (text = '*'): Range => readRange(text) ?? assert.fail(`${text} is not a range`);
const listed = (packs: Universe, name: string): Candidate[] =>
  candidatesOf(Object.entries(packs[name] ?? {}).map(([version, entry]) => ({ version, ...entry })));

/** Tries every assignment: those in which each pack has the highest version that satisfies all requests for it. */
function bruteForce(packs: Universe, wanted: Ranges): Ranges[] {
  let all: Ranges[] = [{}];
  for (const name of Object.keys(packs).sort())
    all = all.flatMap((partial) => [
      partial,
      ...Object.keys(packs[name] ?? {}).map((version) => ({ ...partial, [name]: version })),
    ]);
  return all.filter((chosen) => isSettled(packs, wanted, chosen));
}

function isSettled(packs: Universe, wanted: Ranges, chosen: Ranges): boolean {
  const dependencies = (name: string): Ranges => packs[name]?.[chosen[name] ?? '']?.dependencies ?? {};
  const reached = new Set(Object.keys(wanted));
  for (const name of reached) for (const next of Object.keys(dependencies(name))) reached.add(next);
  if (!isDeepStrictEqual([...reached].sort(), Object.keys(chosen))) return false;
  const asked = [wanted, ...Object.keys(chosen).map(dependencies)];
  const isHighest = (name: string): boolean => {
    const ranges = asked.flatMap(({ [name]: range }) => (range === undefined ? [] : [rangeOf(range)]));
    const best = listed(packs, name).find((candidate) => ranges.every((range) => suits(range, candidate)));
    return best?.version === chosen[name];
  };
  const isOnCycle = (name: string): boolean => {
    const below = new Set(Object.keys(dependencies(name)));
    for (const at of below) for (const next of Object.keys(dependencies(at))) below.add(next);
    return below.has(name);
  };
  return Object.keys(chosen).every((name) => isHighest(name) && !isOnCycle(name));
}

const VERSIONS = ['1.0.0', '1.1.0', '2.0.0', '2.1.0-beta.1'];
const range = fc.constantFrom(
  '*',
  '^1.0.0',
  '1.0.0',
  '~1.1.0',
  '>=1.1.0',
  '^2.0.0',
  '<2.0.0',
  '^2.1.0-beta.0',
);
const yanked = fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, fc.constant({ yanked: {} }));

/** One to four versions that depend on up to two of these. */
function versions(on: readonly string[]) {
  const dependencies =
    on.length === 0
      ? fc.constant({})
      : fc.oneof(fc.constant({}), fc.dictionary(fc.constantFrom(...on), range, { minKeys: 1, maxKeys: 2 }));
  const version = fc
    .tuple(dependencies, yanked)
    .map(([needs, standing]): Version => ({ dependencies: { ...needs }, ...standing }));
  return fc.dictionary(fc.constantFrom(...VERSIONS), version, { minKeys: 1, maxKeys: 4, size: 'max' });
}

/** Five packs, of which some are missing now and then; `allowed` says what a pack may depend on. */
function universe(allowed: (name: string) => readonly string[]): fc.Arbitrary<Universe> {
  const packs = Object.fromEntries(NAMES.map((pack) => [pack, versions(allowed(pack))]));
  return fc.record(packs, { requiredKeys: [A, B, C] }).map((found) => ({ ...found }));
}
const anyUniverse = universe(() => NAMES);
const downward = universe((pack) => NAMES.filter((other) => other > pack));
const roots = fc.dictionary(fc.constantFrom(...NAMES), range, { minKeys: 1, maxKeys: 3 });

describe('what settles', () => {
  test('without cycles: the one assignment in which every pack is the highest, else a failure', async () => {
    const seen = { found: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(downward, roots, async (packs, wanted) => {
        const [expected, ...more] = bruteForce(packs, wanted);
        assert.deepEqual(more, []);
        const found = await outcome(packs, wanted);
        if (expected === undefined) assert.ok(found instanceof OpenwopError);
        else assert.deepEqual(found, expected);
        seen[expected === undefined ? 'failed' : 'found']++;
      }),
      { numRuns: 400 },
    );
    for (const [kind, times] of Object.entries(seen)) assert.ok(times > 50, `${kind} ${times} times`);
  });

  test('with cycles: such an assignment, or a failure', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(anyUniverse, roots, async (packs, wanted) => {
        const chosen = await outcome(packs, wanted);
        if (chosen instanceof OpenwopError) return assert.match(chosen.code, /^pack_/);
        found++;
        assert.ok(isSettled(packs, wanted, chosen));
      }),
      { numRuns: 700 },
    );
    assert.ok(found > 50, `only ${found} of the samples had a solution`);
  });

  test('a pack gives way to those who ask for it, not the other way round', async () => {
    const packs: Universe = {
      [A]: { '1.0.0': { dependencies: { [D]: '*', [E]: '*' } } },
      [B]: { '0.9.0': {}, '1.0.0': { dependencies: { [D]: '<2.0.0' } } },
      [D]: { '1.0.0': {}, '1.5.0': {}, '2.0.0': {} },
      [E]: { '0.9.0': {}, '1.0.0': { dependencies: { [D]: '>=1.0.0' } } },
    };
    assert.deepEqual(await resolve(packs, { [A]: '*', [B]: '*' }), {
      [A]: '1.0.0',
      [B]: '1.0.0',
      [D]: '1.5.0',
      [E]: '1.0.0',
    });
  });
});

describe('what does not', () => {
  test('a requester is not moved to an older version: pack_dependency_conflict', async () => {
    const packs: Universe = {
      [A]: { '2.0.0': { dependencies: { [C]: '^2.0.0' } }, '1.0.0': { dependencies: { [C]: '^1.0.0' } } },
      [B]: { '1.0.0': { dependencies: { [C]: '^1.0.0' } } },
      [C]: { '1.0.0': {}, '2.0.0': {} },
    };
    const { code, details } = await fails(packs, { [A]: '*', [B]: '*' });
    assert.equal(code, 'pack_dependency_conflict');
    assert.deepEqual(details?.conflictingRanges, [
      { requestedBy: `${A}@2.0.0`, range: '^2.0.0' },
      { requestedBy: `${B}@1.0.0`, range: '^1.0.0' },
    ]);
    assert.deepEqual(await resolve(packs, { [A]: '^1.0.0', [B]: '*' }), {
      [A]: '1.0.0',
      [B]: '1.0.0',
      [C]: '1.0.0',
    });
  });

  test('a cycle is not avoided by an older version: pack_dependency_cycle', async () => {
    const packs: Universe = {
      [A]: { '1.0.0': { dependencies: { [B]: '*' } } },
      [B]: { '1.0.0': {}, '2.0.0': { dependencies: { [A]: '*' } } },
    };
    const { code, details } = await fails(packs, { [A]: '*' });
    assert.equal(code, 'pack_dependency_cycle');
    assert.deepEqual(details, { cycle: [A, B, A] });
  });

  test('packs that are no longer requested keep no others', async () => {
    const packs: Universe = {
      [A]: {
        '1.0.0': { dependencies: { [D]: '*' } },
        '2.0.0': { dependencies: { [A]: '^1.0.0', [C]: '*' } },
      },
      [B]: { '1.0.0': { dependencies: { [A]: '1.0.0' } } },
      [C]: { '1.0.0': { dependencies: { [E]: '*' } } },
      [D]: { '2.1.0-beta.1': {} },
      [E]: { '1.0.0': { dependencies: { [B]: '*', [C]: '^2.0.0' } } },
    };
    const { code, details } = await fails(packs, { [A]: '*' });
    assert.equal(code, 'pack_dependency_cycle');
    assert.deepEqual(details, { cycle: [A, A] });
  });

  test('versions that exclude each other in a cycle end as one', async () => {
    const alternating: Universe = {
      [A]: { '1.0.0': {}, '2.0.0': { dependencies: { [B]: '*' } } },
      [B]: { '1.0.0': { dependencies: { [A]: '<2.0.0' } } },
    };
    const excluding: Universe = {
      [A]: { '1.0.0': { dependencies: { [B]: '*' } } },
      [B]: { '1.0.0': { dependencies: { [A]: '^2.0.0' } } },
    };
    for (const packs of [alternating, excluding]) {
      const { code, details } = await fails(packs, { [A]: '*' });
      assert.equal(code, 'pack_dependency_cycle');
      assert.deepEqual(details, { cycle: [A, B, A] });
    }
  });

  test('an override is the only version of its pack, and one request must take it', async () => {
    const packs: Universe = {
      [A]: { '1.0.0': { dependencies: { [C]: '^1.0.0' } } },
      [B]: { '1.0.0': { dependencies: { [C]: '^2.0.0' } } },
      [C]: { '1.0.0': {}, '1.5.0': {}, '2.0.0': {} },
    };
    const wanted = { [A]: '*', [B]: '*' };
    assert.equal((await fails(packs, wanted)).code, 'pack_dependency_conflict');
    assert.equal((await resolve(packs, wanted, { [C]: '1.0.0' }))[C], '1.0.0');
    const useless = await fails({ ...packs, [C]: { ...packs[C], '3.0.0': {} } }, wanted, { [C]: '3.0.0' });
    assert.equal(useless.code, 'pack_dependency_conflict');
    assert.equal((await fails(packs, wanted, { [C]: '9.0.0' })).code, 'pack_version_not_found');
  });
});
