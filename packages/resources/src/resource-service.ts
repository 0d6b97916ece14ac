/** The service of a resource, generated from its literal. */
import type {
  InputOf,
  MethodInput,
  MethodOutput,
  Owner,
  Table,
  UpdateOf,
  ViewOf,
  Wire,
} from '@gantry/protocol';
import type { Entry, EntryFilter, EntryReads, IndexValue } from '@gantry/store';
import type { Caller } from './caller.ts';
import type { Change } from './change.ts';
import type { Changes } from './changes.ts';
import {
  fromEntry,
  indexed,
  keyOf,
  missing,
  type RecordKind,
  type Stored,
  workspaceIndex,
  workspaceOf,
} from './record-kind.ts';
import type { Act, Named, Resource, Verb } from './resource.ts';
import {
  assertAccess,
  type Matching,
  type Shown,
  type Within,
  type WithinOptions,
  within,
} from './within.ts';

const PAGE_BYTES_MAX = 4 * 1024 * 1024;

export interface ServiceOptions<D> extends WithinOptions<D> {
  readonly changes: Changes;
  readonly entries: EntryReads;
  readonly now: () => number;
}

export class ResourceService<W extends Wire<Table>, R extends object, F = undefined, D = undefined> {
  readonly #resource: Resource<W, R, F, D>;
  readonly #options: ServiceOptions<D>;

  constructor(of: Resource<W, R, F, D>, options: ServiceOptions<D>) {
    this.#resource = of;
    this.#options = options;
  }

  /** Of its entries and its feed. */
  get kind(): Pick<RecordKind<R>, 'kind' | 'boundary' | 'feed'> {
    return this.#resource;
  }

  /** The digest for requests whose body may contain a secret; undefined if none does. */
  get digest(): ((text: string) => string) | undefined {
    const { secret, secretBodies } = this.#resource;
    return secret || secretBodies ? (text) => this.#options.changes.digest(text) : undefined;
  }

  create(caller: Caller, input: InputOf<W>): Promise<Shown<ViewOf<W>>> {
    return this.#run(caller, (within) => within.create(input));
  }

  /** The same methods as parts of a larger change. */
  within(change: Change): Within<W> {
    return within(this.#resource, this.#options, change);
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

  /** The given fields replace those of the record. */
  update(caller: Caller, id: string, fields: UpdateOf<W>, matching?: Matching): Promise<Shown<ViewOf<W>>> {
    return this.#run(caller, (within) => within.update(id, fields, matching));
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

  /** Refuses if the caller sees no such parent. */
  async assertParentSeen(owner: Owner, id: string): Promise<void> {
    const parent = this.#resource.parent!;
    const entry = await this.#options.entries.get(keyOf(parent, owner.tenant, id));
    if (!entry || !isSeen(parent, owner, entry)) throw missing(parent);
    assertAccess(parent.access, 'use', owner, fromEntry(parent, entry).record);
  }

  async #entries(owner: Owner, filter: EntryFilter): Promise<Entry[]> {
    const { kind, boundary, access } = this.#resource;
    const list = (index?: IndexValue) =>
      this.#options.entries.list(kind, owner.tenant, { ...filter, ...(index && { index }) });
    const scoped = ({ name, value }: IndexValue): IndexValue => ({
      name,
      value: indexed(this.#resource, owner.workspace, value),
    });
    if (filter.index) return list(scoped(filter.index));
    if (!access) return list(boundary === 'workspace' ? workspaceIndex(owner.workspace) : undefined);
    const lists = access.readers(owner).map((value) => list(scoped({ name: 'reader', value })));
    const found = new Map((await Promise.all(lists)).flat().map((entry) => [entry.id, entry]));
    return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, filter.limit);
  }

  #shownAll(owner: Owner, entries: readonly Entry[]): Promise<Shown<ViewOf<W>>[]> {
    const visible = entries.filter((entry) => isSeen(this.#resource, owner, entry));
    return Promise.all(visible.map((entry) => this.#shown(fromEntry(this.#resource, entry))));
  }

  async #find(owner: Owner, id: string): Promise<Stored<R>> {
    const entry = await this.#options.entries.get(keyOf(this.#resource, owner.tenant, id));
    if (!entry || !isSeen(this.#resource, owner, entry)) throw missing(this.#resource);
    const stored = fromEntry(this.#resource, entry);
    assertAccess(this.#resource.access, 'use', owner, stored.record);
    return stored;
  }

  async #shown(stored: Stored<R>): Promise<Shown<ViewOf<W>>> {
    return { view: await this.#resource.show(stored, this.#options.services), version: stored.version };
  }
}

const isSeen = (
  { boundary }: Pick<Resource<Wire, never>, 'boundary'>,
  { workspace }: Owner,
  entry: Entry,
): boolean => boundary !== 'workspace' || workspaceOf(entry) === workspace;
