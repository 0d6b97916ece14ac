import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { bruteForce, runSearch, type Universe, versionsOf } from './testing.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
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
const name = fc.constantFrom(...NAMES);
const yanked = fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, fc.constant({ yanked: {} }));

/** One to four versions that depend on up to two of these. */
function versions(on: readonly string[]) {
  const dependencies =
    on.length === 0
      ? fc.constant({})
      : fc.oneof(fc.constant({}), fc.dictionary(fc.constantFrom(...on), range, { minKeys: 1, maxKeys: 2 }));
  const version = fc
    .tuple(dependencies, yanked)
    .map(([wanted, standing]) => ({ dependencies: wanted, ...standing }));
  return fc.dictionary(fc.constantFrom(...VERSIONS), version, { minKeys: 1, maxKeys: 4, size: 'max' });
}

/** Five packs, now and then one is missing; what a pack may depend on is given by name. */
function universe(allowed: (name: string) => readonly string[]): fc.Arbitrary<Universe> {
  const packs = Object.fromEntries(NAMES.map((pack) => [pack, versions(allowed(pack))]));
  return fc.record(packs, { requiredKeys: ['a', 'b', 'c'] });
}
const anyUniverse = universe(() => NAMES);
const downward = universe((pack) => NAMES.filter((other) => other > pack));
const roots = fc.dictionary(name, range, { minKeys: 1, maxKeys: 3 });

describe('search', () => {
  test('where circles cannot be: what settles, else the first solution of all', () => {
    const seen = { settled: 0, first: 0, none: 0 };
    fc.assert(
      fc.property(downward, roots, (packs, wanted) => {
        const { settled, first } = bruteForce(packs, wanted);
        assert.ok(settled.length <= 1);
        assert.deepEqual(versionsOf(runSearch(packs, wanted).outcome), settled[0] ?? first);
        seen[settled.length > 0 ? 'settled' : first === undefined ? 'none' : 'first']++;
      }),
      { numRuns: 700 },
    );
    for (const [kind, times] of Object.entries(seen)) assert.ok(times > 0, `${kind} never came`);
  });

  test('anywhere: fails where trying everything fails, else finds a settled solution or the first one', () => {
    let found = 0;
    fc.assert(
      fc.property(anyUniverse, roots, (packs, wanted) => {
        const { solutions, settled, first } = bruteForce(packs, wanted);
        const versionsFound = versionsOf(runSearch(packs, wanted).outcome);
        assert.equal(versionsFound === undefined, solutions.length === 0);
        if (versionsFound === undefined) return;
        found++;
        const isSettled = settled.some((solution) => isDeepStrictEqual(solution, versionsFound));
        if (!isSettled) assert.deepEqual(versionsFound, first);
      }),
      { numRuns: 700 },
    );
    assert.ok(found > 100, `only ${found} of the samples had a solution`);
  });

  test('the pack that is asked for gives way before those who ask', () => {
    const packs: Universe = {
      a: { '1.0.0': { dependencies: { d: '*', e: '*' } } },
      b: { '0.9.0': {}, '1.0.0': { dependencies: { d: '<2.0.0' } } },
      d: { '1.0.0': {}, '1.5.0': {}, '2.0.0': {} },
      e: { '0.9.0': {}, '1.0.0': { dependencies: { d: '>=1.0.0' } } },
    };
    const { outcome } = runSearch(packs, { a: '*', b: '*' });
    assert.deepEqual(versionsOf(outcome), { a: '1.0.0', b: '1.0.0', d: '1.5.0', e: '1.0.0' });
  });

  test('a circle of fresh versions is passed over for older ones without it', () => {
    const packs: Universe = {
      a: { '1.0.0': { dependencies: { b: '*' } } },
      b: { '1.0.0': {}, '2.0.0': { dependencies: { a: '*' } } },
    };
    assert.deepEqual(versionsOf(runSearch(packs, { a: '*' }).outcome), { a: '1.0.0', b: '1.0.0' });
  });

  test('goes back over a decision whose dependencies do not fit', () => {
    const packs: Universe = {
      a: { '2.0.0': { dependencies: { x: '^2.0.0' } }, '1.0.0': { dependencies: { x: '^1.0.0' } } },
      b: { '1.0.0': { dependencies: { x: '^1.0.0' } } },
      x: { '1.0.0': {}, '2.0.0': {} },
    };
    assert.deepEqual(versionsOf(runSearch(packs, { a: '*', b: '*' }).outcome), {
      a: '1.0.0',
      b: '1.0.0',
      x: '1.0.0',
    });
  });

  test('decisions without a part in a failure are not tried again', () => {
    // Ten packs with ten versions each stand between the two that conflict: 10^10 combinations, none of which matters.
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`${at}.0.0`, {}]));
    const middle = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`m${at}`, many]));
    const packs: Universe = {
      ...middle,
      a: { '1.0.0': { dependencies: { x: '1.0.0' } } },
      z: { '1.0.0': { dependencies: { x: '2.0.0' } } },
      x: { '1.0.0': {}, '2.0.0': {} },
    };
    const wanted = Object.fromEntries(['a', 'z', ...Object.keys(middle)].map((pack) => [pack, '*']));
    const { outcome, asked } = runSearch(packs, wanted);
    assert.equal(outcome.kind === 'failed' && outcome.failure.kind, 'conflict');
    assert.ok(asked.length < 50, `${asked.length} questions`);
  });

  test('a registry that is made to stall the search is given up on', () => {
    // Every pack wants the next two to have other versions than they can have together: pigeons and holes.
    const pigeons = 12;
    const packs: Record<string, Record<string, { dependencies: Record<string, string> }>> = {};
    for (let hole = 1; hole < pigeons; hole++)
      packs[`hole${hole}`] = Object.fromEntries(
        Array.from({ length: pigeons }, (_, at) => [`${at + 1}.0.0`, { dependencies: {} }]),
      );
    for (let pigeon = 1; pigeon <= pigeons; pigeon++)
      packs[`pigeon${String(pigeon).padStart(2, '0')}`] = Object.fromEntries(
        Array.from({ length: pigeons - 1 }, (_, at) => [
          `${at + 1}.0.0`,
          { dependencies: { [`hole${at + 1}`]: `${pigeon}.0.0` } },
        ]),
      );
    const wanted = Object.fromEntries(
      Object.keys(packs)
        .filter((pack) => pack.startsWith('pigeon'))
        .map((pack) => [pack, '*']),
    );
    const { outcome } = runSearch(packs, wanted);
    assert.equal(outcome.kind, 'given-up');
  });

  test('an override is the only version of its pack, and somebody must want it', () => {
    const packs: Universe = {
      a: { '1.0.0': { dependencies: { x: '^1.0.0' } } },
      b: { '1.0.0': { dependencies: { x: '^2.0.0' } } },
      x: { '1.0.0': {}, '1.5.0': {}, '2.0.0': {} },
    };
    const wanted = { a: '*', b: '*' };
    assert.equal(runSearch(packs, wanted).outcome.kind, 'failed');
    assert.equal(versionsOf(runSearch(packs, wanted, { x: '1.0.0' }).outcome)?.x, '1.0.0');
    const nobody = runSearch({ ...packs, x: { ...packs.x, '3.0.0': {} } }, wanted, { x: '3.0.0' }).outcome;
    assert.equal(nobody.kind === 'failed' && nobody.failure.kind, 'override');
    const missing = runSearch(packs, wanted, { x: '9.0.0' }).outcome;
    assert.equal(missing.kind === 'failed' && missing.failure.kind, 'not-found');
  });
});
