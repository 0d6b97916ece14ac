/**
 * The pure core of the resolver.
 *
 * S1 A solution has one version for each pack: every request for it is met, nothing is in it that no root leads to,
 *    and packs do not depend on each other in a circle.
 * S2 Where it settles, every pack has the highest version that suits all who ask for it (`settle.ts`): the way of the
 *    protocol, in which only the version of the pack that is asked for gives way.
 * S3 Where that fails, those who ask give way too. Names are decided in the order in which they are met: the roots by
 *    name, then what the first of them asks for by name, and so on; each gets the highest version with which the rest
 *    works out. So what is near the roots stays new.
 * S4 When a choice fails, the search goes back to the nearest decision that had a part in it. What is skipped by this
 *    holds no solution, so S3 stays true.
 * S5 An override is the only version of its pack, whatever is asked for; in the end one who asks must take it.
 */
import type { Failure } from './failure.ts';
import { Learner, type Need } from './learner.ts';
import type { Candidate, Range } from './range.ts';
import { type Choice, type Dead, type Facts, Selection, Versions } from './selection.ts';
import { settle } from './settle.ts';

export interface RootRequest {
  readonly name: string;
  readonly range: Range;
  readonly requestedBy: string;
}

export type Outcome =
  | { readonly kind: 'found'; readonly selection: Selection }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'given-up'; readonly failure: Failure };

interface Frame {
  readonly name: string;
  readonly candidates: readonly Candidate[];
  /** How many names were met before this one was decided. */
  readonly met: number;
  readonly culprits: Set<string>;
  next: number;
  failure: Failure | undefined;
}

/** Far beyond what real registries need; a registry made to stall the search ends here, after a tenth of a second. */
const TRIES_MAX = 10_000;

export function* search(
  roots: readonly RootRequest[],
  overrides: ReadonlyMap<string, string>,
  facts: Facts,
): Generator<Need, Outcome, void> {
  const inOrder = roots.toSorted(byNameThenWho);
  const versions = new Versions(facts, overrides);
  const learner = new Learner(facts, overrides);
  const settled = yield* settle(inOrder, versions, learner);
  if (settled !== undefined) return found(settled, overrides);
  return yield* new Search(versions, learner).run(inOrder);
}

class Search {
  readonly #versions: Versions;
  readonly #learner: Learner;
  readonly #selection: Selection;
  /** Names in the order in which they were met; each frame decides the one at its place. */
  readonly #met: string[] = [];
  readonly #frames: Frame[] = [];
  #tries = 0;

  constructor(versions: Versions, learner: Learner) {
    this.#versions = versions;
    this.#learner = learner;
    this.#selection = new Selection(versions);
  }

  *run(roots: readonly RootRequest[]): Generator<Need, Outcome, void> {
    for (const { name, range, requestedBy } of roots) {
      yield* this.#learner.versions(name, range);
      const dead = this.#selection.request(name, { range, by: { root: requestedBy } });
      if (dead !== undefined) return { kind: 'failed', failure: dead.failure };
    }
    this.#meet(roots.map(({ name }) => name));
    for (let name = this.#met[0]; name !== undefined; name = this.#met[this.#frames.length]) {
      this.#open(name);
      const decided = yield* this.#decide();
      if ('kind' in decided) return decided;
      this.#meet([...decided.dependencies.keys()]);
    }
    return found(this.#selection, this.#versions.overrides);
  }

  #meet(names: readonly string[]): void {
    const known = new Set(this.#met);
    this.#met.push(...new Set(names.filter((name) => !known.has(name))));
  }

  #open(name: string): void {
    const candidates = this.#versions.suitable(name, this.#selection.requestsFor(name));
    const met = this.#met.length;
    this.#frames.push({ name, candidates, met, culprits: new Set(), next: 0, failure: undefined });
  }

  /** Decides the topmost name, going back where nothing is left to try. */
  *#decide(): Generator<Need, Choice | Outcome, void> {
    let failure: Failure | undefined;
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      const candidate = frame.candidates[frame.next++];
      if (candidate === undefined) {
        failure = this.#goBack() ?? failure;
        continue;
      }
      const choice = yield* this.#learner.choice(frame.name, candidate);
      const dead = this.#selection.place(choice);
      if (dead === undefined) return choice;
      reject(frame, dead);
      if (++this.#tries > TRIES_MAX) return { kind: 'given-up', failure: frame.failure ?? dead.failure };
    }
    if (failure === undefined) throw new Error('a search that fails says why');
    return { kind: 'failed', failure };
  }

  /** S4: the topmost name has no version left. Who asked for it, or had a part in its failures, chooses anew. */
  #goBack(): Failure | undefined {
    const { name, culprits, failure } = this.#frames.pop() ?? {};
    if (name === undefined || culprits === undefined || failure === undefined) return failure;
    for (const { by } of this.#selection.requestsFor(name)) if ('pack' in by) culprits.add(by.pack);
    culprits.delete(name);
    for (let top = this.#frames.at(-1); top !== undefined; top = this.#frames.at(-1)) {
      this.#selection.unplace(top.name);
      this.#met.length = top.met;
      if (culprits.has(top.name)) {
        reject(top, { failure, culprits: [...culprits] });
        break;
      }
      this.#frames.pop();
    }
    return failure;
  }
}

/** S5: an override that nobody who asks would take breaks their contract in silence. */
function found(selection: Selection, overrides: ReadonlyMap<string, string>): Outcome {
  for (const [name, version] of overrides) {
    const requests = selection.requestsFor(name);
    const chosen = selection.choices.get(name)?.candidate;
    if (chosen === undefined || requests.some(({ range }) => range.range.test(chosen.semver))) continue;
    const askers = requests.map((request) => selection.asker(request));
    return { kind: 'failed', failure: { kind: 'override', name, version, askers } };
  }
  return { kind: 'found', selection };
}

/** The first reason counts, unless it left a way open and a later one does not. */
function reject(frame: Frame, { failure, culprits }: Dead): void {
  for (const culprit of culprits) frame.culprits.add(culprit);
  const isOpen = frame.failure?.kind === 'conflict' && !frame.failure.isFinal;
  if (frame.failure === undefined || isOpen) frame.failure = failure;
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
const byNameThenWho = (left: RootRequest, right: RootRequest): number =>
  compare(left.name, right.name) ||
  compare(left.requestedBy, right.requestedBy) ||
  compare(left.range.text, right.range.text);
