/** The service of a resource, generated from its literal. */
import {
  type InputOf,
  type MethodInput,
  type MethodOutput,
  OpenwopError,
  type Owner,
  type Table,
  type ViewOf,
  type Wire,
} from '@gantry/protocol';
import type { Entry, EntryFilter, EntryReads, IndexValue } from '@gantry/store';
import { type Caller, isIn } from './caller.ts';
import type { Change } from './change.ts';
import type { Changes } from './changes.ts';
import { fromEntry, keyOf, missing, type Stored, workspaceIndex } from './record-kind.ts';
import type { Act, Named, Resource, Verb } from './resource.ts';

const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** A view, and the version of the record that it shows (`ETag`). */
export interface Shown<V> {
  readonly view: V;
  readonly version: number;
}

export interface ServiceOptions<D> {
  readonly changes: Changes;
  readonly entries: EntryReads;
  readonly now: () => number;
  readonly services: D;
  /** Called after a method or a removal was committed, before it is answered. */
  readonly onChanged?: (tenant: string, id: string) => Promise<void>;
}

/** The version at which a caller wants to change a record (`If-Match`). */
export interface Matching {
  readonly version?: number;
}

/** What a caller can do with a resource in one change. Input is that of the methods of the service. */
export interface Within<W extends Wire> {
  create(input: InputOf<W>): Promise<Shown<ViewOf<W>>>;
  get(id: string): Promise<Shown<ViewOf<W>>>;
  call<N extends Verb<W>>(
    verb: N,
    id: string,
    input: MethodInput<W, N>,
    matching?: Matching,
  ): Promise<Shown<ViewOf<W>>>;
  act<N extends Act<W>>(
    name: N,
    id: string,
    input: MethodInput<W, N>,
    matching?: Matching,
  ): Promise<MethodOutput<W, N>>;
  remove(id: string, matching?: Matching): Promise<Shown<ViewOf<W>>>;
}

export class ResourceService<W extends Wire<Table>, R extends object, F = undefined, D = undefined> {
  readonly #resource: Resource<W, R, F, D>;
  readonly #options: ServiceOptions<D>;

  constructor(of: Resource<W, R, F, D>, options: ServiceOptions<D>) {
    this.#resource = of;
    this.#options = options;
  }

  /** The digest for requests whose body may contain a secret; undefined if none does. */
  get digest(): ((text: string) => string) | undefined {
    const { secret, secretBodies } = this.#resource;
    return secret || secretBodies ? (text) => this.#options.changes.digest(text) : undefined;
  }

  create(caller: Caller, input: InputOf<W>): Promise<Shown<ViewOf<W>>> {
    return this.#run(caller, (within) => within.create(input));
  }

  /** The same methods as parts of a larger change. Lists are missing: they are no precondition. */
  within(change: Change): Within<W> {
    const { prepare, create, idOf, verbs, acts, remove } = this.#resource;
    const { services } = this.#options;
    return {
      create: async (input) => {
        const { caller, now } = change;
        const facts = (await prepare?.(input, services, caller)) as F;
        const of = (id: string): R => create(input, facts, { now, caller, id, services });
        const id = idOf?.(input);
        return this.#shown(
          id === undefined ? change.createFor(this.#resource, of) : change.create(this.#resource, of(id), id),
        );
      },
      get: async (id) => {
        const stored = await change.get(this.#resource, id);
        this.#assertUsable(change.caller, stored);
        return this.#shown(stored);
      },
      call: async (verb, id, input, matching = {}) => {
        const stored = await this.#managed(change, id, matching);
        const next = verbs[verb](stored.record, input, { now: change.now, stored, services });
        return this.#shown(change.replace(stored, next));
      },
      act: async (name, id, input, matching = {}) =>
        acts![name](await this.#managed(change, id, matching), input, change, services),
      remove: async (id, matching = {}) => {
        const stored = await this.#managed(change, id, matching);
        remove?.(stored.record, stored, change);
        change.delete(stored);
        return this.#shown(stored);
      },
    };
  }

  async get(owner: Owner, id: string): Promise<Shown<ViewOf<W>>> {
    return this.#shown(await this.#find(owner, id));
  }

  /** Newest first, unless the filter says otherwise. */
  async list(owner: Owner, filter: EntryFilter): Promise<Shown<ViewOf<W>>[]> {
    return this.#shownAll(owner, await this.#entries(owner, filter));
  }

  /** A page of at most `PAGE_BYTES_MAX`, except for a single larger record. `hasMore`: there may be others. */
  async page(
    owner: Owner,
    filter: EntryFilter,
  ): Promise<{ readonly shown: Shown<ViewOf<W>>[]; readonly hasMore: boolean }> {
    const { limit } = filter;
    // Lists of several readers cannot be limited by bytes: each would end at a different place
    const bound = this.#resource.access ? {} : { bytesMax: PAGE_BYTES_MAX };
    const read = await this.#entries(owner, { ...filter, limit: limit + 1, ...bound });
    const bytes = read.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    const hasMore = read.length > limit || bytes > PAGE_BYTES_MAX;
    const entries = hasMore && read.length > 1 ? read.slice(0, -1) : read;
    return { shown: await this.#shownAll(owner, entries), hasMore };
  }

  call<N extends Verb<W>>(
    caller: Caller,
    verb: N,
    id: string,
    input: MethodInput<W, N>,
    matching?: Matching,
  ): Promise<Shown<ViewOf<W>>> {
    return this.#run(caller, (within) => within.call(verb, id, input, matching));
  }

  act<N extends Act<W>>(
    caller: Caller,
    name: N,
    id: string,
    input: MethodInput<W, N>,
    matching?: Matching,
  ): Promise<MethodOutput<W, N>> {
    return this.#run(caller, (within) => within.act(name, id, input, matching));
  }

  async read<N extends Named<W, 'item', 'read'>>(
    owner: Owner,
    name: N,
    id: string,
    input: MethodInput<W, N>,
  ): Promise<MethodOutput<W, N>> {
    const stored = await this.#find(owner, id);
    const { now, services } = this.#options;
    return this.#resource.reads![name](stored.record, input, { now: now(), stored, services });
  }

  all<N extends Named<W, 'all', 'read'>>(name: N, input: MethodInput<W, N>): MethodOutput<W, N> {
    return this.#resource.all![name](input, { now: this.#options.now() });
  }

  actAll<N extends Named<W, 'all', 'write'>>(
    caller: Caller,
    name: N,
    input: MethodInput<W, N>,
  ): Promise<MethodOutput<W, N>> {
    const of = { kind: this.#resource, services: this.#options.services };
    return this.#options.changes.run(caller, (change) => this.#resource.allActs![name](input, change, of));
  }

  remove(caller: Caller, id: string, matching?: Matching): Promise<Shown<ViewOf<W>>> {
    return this.#run(caller, (within) => within.remove(id, matching));
  }

  #run<T>(caller: Caller, work: (within: Within<W>) => Promise<T>): Promise<T> {
    return this.#options.changes.run(caller, (change) => work(this.within(change)));
  }

  async #managed(change: Change, id: string, matching: Matching): Promise<Stored<R>> {
    const stored = await change.get(this.#resource, id);
    const { access } = this.#resource;
    if (access && access.of(change.caller, stored.record) !== 'manage')
      throw new OpenwopError(access.forbidden);
    mustMatch(stored, matching);
    const { onChanged } = this.#options;
    if (onChanged) change.after(() => onChanged(change.caller.tenant, id));
    return stored;
  }

  #assertUsable(owner: Owner, { record }: Stored<R>): void {
    const { access } = this.#resource;
    if (access && !access.of(owner, record)) throw new OpenwopError(access.forbidden);
  }

  async #entries(owner: Owner, filter: EntryFilter): Promise<Entry[]> {
    const { kind, boundary, access } = this.#resource;
    const list = (index?: IndexValue) =>
      this.#options.entries.list(kind, owner.tenant, { ...filter, ...(index && { index }) });
    if (filter.index) return list(filter.index);
    if (boundary === 'workspace') return list(workspaceIndex(owner.workspace));
    if (!access) return list();
    const lists = access.readers(owner).map((value) => list({ name: 'reader', value }));
    const found = new Map((await Promise.all(lists)).flat().map((entry) => [entry.id, entry]));
    return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, filter.limit);
  }

  #shownAll(owner: Owner, entries: readonly Entry[]): Promise<Shown<ViewOf<W>>[]> {
    const visible = entries.filter((entry) => this.#isVisible(owner, entry));
    return Promise.all(visible.map((entry) => this.#shown(fromEntry(this.#resource, entry))));
  }

  async #find(owner: Owner, id: string): Promise<Stored<R>> {
    const entry = await this.#options.entries.get(keyOf(this.#resource, owner.tenant, id));
    if (!entry || !this.#isVisible(owner, entry)) throw missing(this.#resource);
    const stored = fromEntry(this.#resource, entry);
    this.#assertUsable(owner, stored);
    return stored;
  }

  #isVisible({ workspace }: Owner, entry: Entry): boolean {
    return this.#resource.boundary !== 'workspace' || isIn(workspace, entry);
  }

  async #shown(stored: Stored<R>): Promise<Shown<ViewOf<W>>> {
    return { view: await this.#resource.show(stored, this.#options.services), version: stored.version };
  }
}

export function mustMatch(
  { version: currentVersion }: { readonly version: number },
  { version = currentVersion }: Matching,
): void {
  if (version === currentVersion) return;
  throw new OpenwopError('conflict', {
    message: `It is at version ${currentVersion}, not at ${version}. Read it again and repeat the change.`,
    details: { currentVersion },
  });
}
