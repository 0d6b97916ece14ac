/** Small universes of packs, and a solver that tries everything. */
import assert from 'node:assert/strict';
import type { IndexedVersion } from '../registry/registry.ts';
import type { Need } from './learner.ts';
import { type Candidate, candidatesOf, highestFirst, type Range, readRange, suits } from './range.ts';
import { type Outcome, search } from './search.ts';
import type { Facts } from './selection.ts';

export interface UniverseVersion extends Omit<IndexedVersion, 'version'> {
  readonly dependencies?: Readonly<Record<string, string>>;
}
/** Versions by pack. */
export type Universe = Readonly<Record<string, Readonly<Record<string, UniverseVersion>>>>;

const rangeOf = (text: string): Range => readRange(text) ?? assert.fail(`${text} is no range`);

const dependenciesOf = (universe: Universe, name: string, version: string): Map<string, Range> => {
  const { dependencies = {} } = universe[name]?.[version] ?? {};
  return new Map(
    Object.keys(dependencies)
      .sort()
      .map((dependency) => [dependency, rangeOf(dependencies[dependency] ?? '*')]),
  );
};

const listed = (universe: Universe, name: string): Candidate[] =>
  candidatesOf(Object.entries(universe[name] ?? {}).map(([version, entry]) => ({ version, ...entry })));

/** Runs the search, telling it only what it asks for. */
export function runSearch(
  universe: Universe,
  roots: Readonly<Record<string, string>>,
  overrides: Readonly<Record<string, string>> = {},
): { outcome: Outcome; asked: Need[] } {
  const candidates = new Map<string, Candidate[]>();
  const dependencies = new Map<string, Map<string, Range>>();
  const facts: Facts = {
    candidates: (name) => candidates.get(name),
    dependencies: (name, version) => dependencies.get(`${name}@${version}`),
  };
  const requests = Object.entries(roots).map(([name, range]) => ({
    name,
    range: rangeOf(range),
    requestedBy: 'root',
  }));
  const steps = search(requests, new Map(Object.entries(overrides)), facts);
  const asked: Need[] = [];
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { outcome: step.value, asked };
    const need = step.value;
    asked.push(need);
    if (need.kind === 'index') candidates.set(need.name, listed(universe, need.name));
    if (need.kind === 'dependencies')
      dependencies.set(`${need.name}@${need.version}`, dependenciesOf(universe, need.name, need.version));
  }
}

export const versionsOf = (outcome: Outcome): Record<string, string> | undefined =>
  outcome.kind === 'found'
    ? Object.fromEntries(
        [...outcome.selection.choices]
          .map(([name, { candidate }]) => [name, candidate.version] as const)
          .sort(),
      )
    : undefined;

type Solution = ReadonlyMap<string, Candidate>;

export interface Tried {
  readonly solutions: readonly Record<string, string>[];
  /** Solutions in which every pack has the highest version that suits all who ask (S2). */
  readonly settled: readonly Record<string, string>[];
  /** The first by S3. */
  readonly first: Record<string, string> | undefined;
}

/** Tries every assignment. */
export function bruteForce(universe: Universe, roots: Readonly<Record<string, string>>): Tried {
  const solutions = assignments(universe).filter((solution) => isSolution(universe, roots, solution));
  const [first] = solutions.map((solution) => discovery(universe, roots, solution)).sort(compareDiscoveries);
  return {
    solutions: solutions.map(versionsIn),
    settled: solutions.filter((solution) => isSettled(universe, roots, solution)).map(versionsIn),
    first: first && versionsIn(new Map(first.map(({ name, candidate }) => [name, candidate]))),
  };
}

/** Sorted by name, so that two can be compared as text. */
const versionsIn = (solution: Solution): Record<string, string> =>
  Object.fromEntries([...solution].map(([name, { version }]) => [name, version] as const).sort());

function isSettled(universe: Universe, roots: Readonly<Record<string, string>>, solution: Solution): boolean {
  return [...solution].every(([name, chosen]) => {
    const wanted = [...solution].flatMap(
      ([other, { version }]) => dependenciesOf(universe, other, version).get(name) ?? [],
    );
    if (roots[name] !== undefined) wanted.push(rangeOf(roots[name]));
    const [highest] = listed(universe, name).filter((candidate) =>
      wanted.every((range) => suits(range, candidate)),
    );
    return highest?.version === chosen.version;
  });
}

function assignments(universe: Universe): Solution[] {
  let all: Map<string, Candidate>[] = [new Map()];
  for (const name of Object.keys(universe))
    all = all.flatMap((partial) => [
      partial,
      ...listed(universe, name).map((candidate) => new Map(partial).set(name, candidate)),
    ]);
  return all;
}

function isSolution(
  universe: Universe,
  roots: Readonly<Record<string, string>>,
  solution: Solution,
): boolean {
  const met = ([name, range]: readonly [string, Range]): boolean => {
    const candidate = solution.get(name);
    return candidate !== undefined && suits(range, candidate);
  };
  return (
    Object.entries(roots).every(([name, range]) => met([name, rangeOf(range)])) &&
    [...solution].every(([name, { version }]) => [...dependenciesOf(universe, name, version)].every(met)) &&
    discovery(universe, roots, solution).length === solution.size &&
    [...solution.keys()].every((name) => !reaches(universe, solution, name, name))
  );
}

function reaches(universe: Universe, solution: Solution, from: string, to: string): boolean {
  const seen = new Set<string>();
  const visit = (name: string): boolean => {
    const version = solution.get(name)?.version ?? '';
    for (const next of dependenciesOf(universe, name, version).keys()) {
      if (next === to) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      if (visit(next)) return true;
    }
    return false;
  };
  return visit(from);
}

interface Discovered {
  readonly name: string;
  readonly candidate: Candidate;
}

/** The packs of a solution in the order in which they are met from the roots on. */
function discovery(
  universe: Universe,
  roots: Readonly<Record<string, string>>,
  solution: Solution,
): Discovered[] {
  const met = new Set(Object.keys(roots).sort());
  const order: Discovered[] = [];
  for (const name of met) {
    const candidate = solution.get(name);
    if (candidate === undefined) continue;
    order.push({ name, candidate });
    for (const next of dependenciesOf(universe, name, candidate.version).keys()) met.add(next);
  }
  return order;
}

/** Two solutions meet the same names up to where their versions first differ. */
function compareDiscoveries(left: readonly Discovered[], right: readonly Discovered[]): number {
  for (const [index, { name, candidate }] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 0;
    assert.equal(name, other.name);
    const order = highestFirst(candidate, other.candidate);
    if (order !== 0) return order;
  }
  return 0;
}
