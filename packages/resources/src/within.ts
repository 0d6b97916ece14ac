/** The methods of a resource as parts of a change. */
import {
  type InputOf,
  invalid,
  type MethodInput,
  type MethodOutput,
  OpenwopError,
  type UpdateOf,
  type ViewOf,
  type Wire,
} from '@gantry/protocol';
import type { Change } from './change.ts';
import type { Stored } from './record-kind.ts';
import type { Access, Act, Resource, Verb } from './resource.ts';

/** A view, and the version of the record that it shows (`ETag`). */
export interface Shown<V> {
  readonly view: V;
  readonly version: number;
}

/** The version at which a caller wants to change a record (`If-Match`). */
export interface Matching {
  readonly version?: number;
}

/** Lists are missing: they are no precondition, and do not see what the change has written. */
export interface Within<W extends Wire> {
  create(input: InputOf<W>): Promise<Shown<ViewOf<W>>>;
  get(id: string): Promise<Shown<ViewOf<W>>>;
  /** The fields replace those of the record. */
  update(id: string, fields: UpdateOf<W>, matching?: Matching): Promise<Shown<ViewOf<W>>>;
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

export interface WithinOptions<D> {
  readonly services: D;
  /** Called after a method or a removal was committed, before it is answered. */
  readonly onChanged?: (tenant: string, id: string) => Promise<void>;
}

export function within<W extends Wire, R extends object, F, D>(
  resource: Resource<W, R, F, D>,
  { services, onChanged }: WithinOptions<D>,
  change: Change,
): Within<W> {
  const { prepare, create, idOf, update, verbs, acts, remove, show, access } = resource;
  const { caller, now } = change;

  const shown = async (stored: Stored<R>): Promise<Shown<ViewOf<W>>> => ({
    view: await show(stored, services),
    version: stored.version,
  });

  async function managed(id: string, matching: Matching = {}): Promise<Stored<R>> {
    const stored = await change.get(resource, id);
    assertAccess(access, 'manage', caller, stored.record);
    mustMatch(stored, matching);
    if (onChanged) change.after(() => onChanged(caller.tenant, id));
    return stored;
  }

  return {
    async create(input) {
      await assertParent(resource, change, input);
      const facts = (await prepare?.(input, services, caller)) as F;
      const of = (id: string): R => create(input, facts, { now, caller, id, services });
      const id = idOf?.(input);
      // It is the path of the feed
      if (id === 'changes' && resource.feed)
        throw invalid('The id "changes" is reserved. Choose another.', { id });
      return shown(id === undefined ? change.createFor(resource, of) : change.create(resource, of(id), id));
    },
    async get(id) {
      const stored = await change.get(resource, id);
      assertAccess(access, 'use', caller, stored.record);
      return shown(stored);
    },
    async update(id, fields, matching) {
      const stored = await managed(id, matching);
      return shown(change.replace(stored, update!(stored.record, fields, { now, stored, services })));
    },
    async call(verb, id, input, matching) {
      const stored = await managed(id, matching);
      return shown(change.replace(stored, verbs[verb](stored.record, input, { now, stored, services })));
    },
    act: async (name, id, input, matching) =>
      acts![name](await managed(id, matching), input, change, services),
    async remove(id, matching) {
      const stored = await managed(id, matching);
      remove?.(stored.record, stored, change);
      change.delete(stored);
      return shown(stored);
    },
  };
}

export function assertAccess<R extends object>(
  access: Access<R> | undefined,
  wanted: 'manage' | 'use',
  caller: Parameters<Access<R>['of']>[0],
  record: R,
): void {
  const right = access ? access.of(caller, record) : 'manage';
  if (access && right !== 'manage' && right !== wanted) throw new OpenwopError(access.forbidden);
}

/** The parent is a precondition: it is not removed meanwhile. */
async function assertParent<W extends Wire>(
  { parent, wire }: Pick<Resource<W, never, never, never>, 'parent' | 'wire'>,
  change: Change,
  input: InputOf<W>,
): Promise<void> {
  if (!parent || !wire.parent) return;
  const { [wire.parent.id]: id } = input as Readonly<Record<string, unknown>>;
  const { record } = await change.get(parent, String(id));
  assertAccess(parent.access, 'manage', change.caller, record);
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
