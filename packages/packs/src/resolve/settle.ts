import type { Learner, Need } from './learner.ts';
import type { Range } from './range.ts';
import type { RootRequest } from './search.ts';
import { type Choice, type Request, Selection, type Versions } from './selection.ts';

/** Versions that keep changing each other never settle; real ones do after a few changes each. */
const CHANGES_PER_PACK_MAX = 20;
const CHANGES_MIN = 1000;

/**
 * The way of the protocol: every pack gets the highest version that suits all who ask for it, and when a version
 * changes, so do its requests, until nothing changes any more. Undefined when that ends in a conflict or a circle,
 * or does not end. Where packs cannot depend on each other in a circle there is at most one such end, so the order
 * in which packs are looked at means nothing.
 */
export function* settle(
  roots: readonly RootRequest[],
  versions: Versions,
  learner: Learner,
): Generator<Need, Selection | undefined, void> {
  const settling = new Settling(versions, learner);
  for (const root of roots) yield* settling.ask(root);
  if (!(yield* settling.run())) return undefined;
  return settling.selection(roots);
}

class Settling {
  readonly #versions: Versions;
  readonly #learner: Learner;
  readonly #choices = new Map<string, Choice | undefined>();
  /** By who asks, for each pack. */
  readonly #requests = new Map<string, Map<string, Request>>();
  readonly #unsettled = new Set<string>();
  #changes = 0;

  constructor(versions: Versions, learner: Learner) {
    this.#versions = versions;
    this.#learner = learner;
  }

  *ask({ name, range, requestedBy }: RootRequest): Generator<Need, void, void> {
    yield* this.#learner.versions(name, range);
    this.#add(name, `root ${requestedBy} ${range.text}`, { range, by: { root: requestedBy } });
  }

  /** Answers whether everything settled, and for everyone who asks. */
  *run(): Generator<Need, boolean, void> {
    for (const name of this.#unsettled) {
      this.#unsettled.delete(name);
      if (this.#changes > CHANGES_MIN + CHANGES_PER_PACK_MAX * this.#requests.size) return false;
      yield* this.#reconsider(name);
    }
    return [...this.#choices.values()].every((choice) => choice !== undefined);
  }

  *#reconsider(name: string): Generator<Need, void, void> {
    const requests = [...(this.#requests.get(name)?.values() ?? [])];
    const [candidate] = requests.length === 0 ? [] : this.#versions.suitable(name, requests);
    const before = this.#choices.get(name);
    if (candidate !== undefined && before?.candidate === candidate) return;
    const choice = candidate && (yield* this.#learner.choice(name, candidate));
    this.#changes++;
    if (choice !== undefined && choice.candidate !== candidate) this.#unsettled.add(name);
    if (requests.length === 0) this.#choices.delete(name);
    else this.#choices.set(name, choice);
    for (const dependency of before?.dependencies.keys() ?? []) this.#remove(dependency, name);
    for (const [dependency, range] of choice?.dependencies ?? []) this.#addFrom(name, dependency, range);
  }

  #addFrom(name: string, dependency: string, range: Range): void {
    this.#add(dependency, name, { range, by: { pack: name } });
  }

  #add(name: string, who: string, request: Request): void {
    const requests = this.#requests.get(name) ?? new Map<string, Request>();
    this.#requests.set(name, requests.set(who, request));
    this.#unsettled.add(name);
  }

  #remove(name: string, who: string): void {
    this.#requests.get(name)?.delete(who);
    this.#unsettled.add(name);
  }

  /** The same from the roots on, which finds circles. */
  selection(roots: readonly RootRequest[]): Selection | undefined {
    const selection = new Selection(this.#versions);
    for (const { name, range, requestedBy } of roots)
      if (selection.request(name, { range, by: { root: requestedBy } })) return undefined;
    const names = new Set(roots.map(({ name }) => name));
    for (const name of names) {
      const choice = this.#choices.get(name);
      if (choice === undefined || selection.place(choice)) return undefined;
      for (const dependency of choice.dependencies.keys()) names.add(dependency);
    }
    return selection;
  }
}
