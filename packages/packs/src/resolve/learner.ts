import type { Candidate, Range } from './range.ts';
import type { Choice, Facts } from './selection.ts';

/** What the search has to know next. It goes on when its facts can tell. */
export type Need =
  | { readonly kind: 'index'; readonly name: string }
  /** A version that is asked for by number and not in the index: a fallback may have it. */
  | { readonly kind: 'pin'; readonly name: string; readonly version: string }
  | { readonly kind: 'dependencies'; readonly name: string; readonly version: string };

/** Asks for facts where they are missing. */
export class Learner {
  readonly #facts: Facts;
  readonly #overrides: ReadonlyMap<string, string>;
  readonly #pinsAsked = new Set<string>();

  constructor(facts: Facts, overrides: ReadonlyMap<string, string>) {
    this.#facts = facts;
    this.#overrides = overrides;
  }

  /** The versions of a pack, so far as a request needs them. */
  *versions(name: string, range: Range): Generator<Need, void, void> {
    if (this.#facts.candidates(name) === undefined) yield { kind: 'index', name };
    const version = this.#overrides.get(name) ?? range.exact;
    if (version === undefined || this.#pinsAsked.has(`${name}@${version}`)) return;
    this.#pinsAsked.add(`${name}@${version}`);
    const isListed = this.#facts.candidates(name)?.some((candidate) => candidate.version === version);
    if (isListed !== true) yield { kind: 'pin', name, version };
  }

  /** A version with what it depends on, and the versions of that. */
  *choice(name: string, candidate: Candidate): Generator<Need, Choice, void> {
    const { version } = candidate;
    if (this.#facts.dependencies(name, version) === undefined) yield { kind: 'dependencies', name, version };
    const dependencies = this.#facts.dependencies(name, version);
    if (dependencies === undefined) throw new Error(`nobody told what ${name}@${version} depends on`);
    for (const [dependency, range] of dependencies) yield* this.versions(dependency, range);
    const current = this.#facts.candidates(name)?.find((known) => known.version === version);
    return { name, candidate: current ?? candidate, dependencies };
  }
}
