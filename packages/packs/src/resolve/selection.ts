import type { Asker, Failure } from './failure.ts';
import { type Candidate, type Range, suits } from './range.ts';

export interface Facts {
  /** Highest first; empty when nobody knows the pack, undefined when nobody was asked. */
  candidates(name: string): readonly Candidate[] | undefined;
  /** Ranges by name, in the order of names; undefined when nobody was asked. */
  dependencies(name: string, version: string): ReadonlyMap<string, Range> | undefined;
}

export interface Request {
  readonly range: Range;
  readonly by: { readonly root: string } | { readonly pack: string };
}

export interface Choice {
  readonly name: string;
  readonly candidate: Candidate;
  readonly dependencies: ReadonlyMap<string, Range>;
}

/** Why a choice does not work out, and the decisions that have a part in it. */
export interface Dead {
  readonly failure: Failure;
  readonly culprits: readonly string[];
}

/** The versions that there are, seen with the overrides. */
export class Versions {
  readonly #facts: Facts;
  readonly overrides: ReadonlyMap<string, string>;

  constructor(facts: Facts, overrides: ReadonlyMap<string, string>) {
    this.#facts = facts;
    this.overrides = overrides;
  }

  all(name: string): readonly Candidate[] {
    return this.#facts.candidates(name) ?? [];
  }

  /** Those that all who ask would take. */
  suitable(name: string, requests: readonly Request[]): readonly Candidate[] {
    const override = this.overrides.get(name);
    if (override !== undefined) return this.all(name).filter(({ version }) => version === override);
    return this.all(name).filter((candidate) => requests.every(({ range }) => suits(range, candidate)));
  }
}

/** The versions chosen so far and what is asked of each pack. Everything can be taken back, last first. */
export class Selection {
  readonly choices = new Map<string, Choice>();
  readonly #requests = new Map<string, Request[]>();
  readonly #versions: Versions;

  constructor(versions: Versions) {
    this.#versions = versions;
  }

  requestsFor(name: string): readonly Request[] {
    return this.#requests.get(name) ?? [];
  }

  request(name: string, request: Request): Dead | undefined {
    const dead = this.#judge(name, request);
    if (dead === undefined) this.#push(name, request);
    return dead;
  }

  place(choice: Choice): Dead | undefined {
    const { name, candidate, dependencies } = choice;
    // The manifest may know that a version is withdrawn when the index does not yet.
    if (!this.#versions.suitable(name, this.requestsFor(name)).includes(candidate))
      return this.#dead(name, this.requestsFor(name), false);
    this.choices.set(name, choice);
    const by = { pack: name };
    // Only a pack that is chosen already can have led here.
    const isRepeated = [...dependencies.keys()].some((dependency) => this.choices.has(dependency));
    const above = isRepeated ? this.#above(name) : new Map<string, string>();
    for (const [dependency, range] of dependencies) {
      const dead = this.#circle(dependency, above) ?? this.#judge(dependency, { range, by });
      if (dead === undefined) continue;
      this.choices.delete(name);
      return dead;
    }
    for (const [dependency, range] of dependencies) this.#push(dependency, { range, by });
    return undefined;
  }

  /** The one that was placed last: its requests are the last ones of the packs that it asks for. */
  unplace(name: string): void {
    const choice = this.choices.get(name);
    if (choice === undefined) return;
    for (const dependency of choice.dependencies.keys()) this.#requests.get(dependency)?.pop();
    this.choices.delete(name);
  }

  asker({ range, by }: Request): Asker {
    if ('root' in by) return { requestedBy: by.root, range: range.text, chain: [by.root] };
    const chain = this.#chain(by.pack);
    return { requestedBy: chain.at(-1) ?? by.pack, range: range.text, chain };
  }

  #push(name: string, request: Request): void {
    const requests = this.#requests.get(name);
    if (requests === undefined) this.#requests.set(name, [request]);
    else requests.push(request);
  }

  /** What speaks against one more request for a pack. */
  #judge(name: string, request: Request): Dead | undefined {
    const chosen = this.choices.get(name)?.candidate;
    const isTaken =
      this.#versions.overrides.has(name) || (chosen !== undefined && suits(request.range, chosen));
    if (chosen !== undefined && isTaken) return undefined;
    const requests = [...this.requestsFor(name), request];
    const isPossible = this.#versions.suitable(name, requests).length > 0;
    if (chosen === undefined && isPossible) return undefined;
    return this.#dead(name, requests, isPossible);
  }

  #dead(name: string, requests: readonly Request[], isPossible: boolean): Dead {
    const askers = requests.flatMap(({ by }) => ('pack' in by ? [by.pack] : []));
    return {
      failure: this.#unsuited(name, requests, !isPossible),
      culprits: isPossible ? [...askers, name] : askers,
    };
  }

  #unsuited(name: string, requests: readonly Request[], isFinal: boolean): Failure {
    const candidates = this.#versions.all(name);
    const available = candidates.filter(({ yanked }) => !yanked).map(({ version }) => version);
    const withdrawn = candidates.filter(({ yanked }) => yanked).map(({ version }) => version);
    const override = this.#versions.overrides.get(name);
    if (override !== undefined) {
      const asker = { requestedBy: 'overrides', range: override, chain: ['overrides'] };
      return { kind: 'not-found', name, asker, available, withdrawn };
    }
    const alone = requests.find((request) => this.#versions.suitable(name, [request]).length === 0);
    if (alone !== undefined)
      return { kind: 'not-found', name, asker: this.asker(alone), available, withdrawn };
    const askers = requests.map((request) => this.asker(request));
    return { kind: 'conflict', name, askers, available, isFinal };
  }

  #circle(dependency: string, above: ReadonlyMap<string, string | undefined>): Dead | undefined {
    if (!above.has(dependency)) return undefined;
    const path: string[] = [];
    for (let at: string | undefined = dependency; at !== undefined; at = above.get(at)) path.push(at);
    const chain = this.#chain(dependency);
    return { failure: { kind: 'cycle', cycle: [...path, dependency], chain }, culprits: path };
  }

  /** A pack and all that led to it, each with the next one down. */
  #above(name: string): Map<string, string | undefined> {
    const above = new Map<string, string | undefined>([[name, undefined]]);
    for (const at of above.keys())
      for (const { by } of this.requestsFor(at))
        if ('pack' in by && !above.has(by.pack)) above.set(by.pack, at);
    return above;
  }

  /** From a root to a chosen pack, the way it was first asked for. */
  #chain(name: string): string[] {
    const chain: string[] = [];
    let at: string | undefined = name;
    while (at !== undefined) {
      chain.push(`${at}@${this.choices.get(at)?.candidate.version}`);
      const by: Request['by'] | undefined = this.requestsFor(at)[0]?.by;
      if (by !== undefined && 'root' in by) chain.push(by.root);
      at = by !== undefined && 'pack' in by ? by.pack : undefined;
    }
    return chain.reverse();
  }
}
