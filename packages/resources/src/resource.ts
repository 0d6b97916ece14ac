/** A resource is a literal: how its records are stored, and pure functions from record to record. */
import type {
  ErrorCode,
  FilterOf,
  InputOf,
  MethodInput,
  MethodOutput,
  Owner,
  UpdateOf,
  ViewOf,
  Wire,
} from '@gantry/protocol';
import type { Caller } from './caller.ts';
import type { Change } from './change.ts';
import type { RecordKind, Stored } from './record-kind.ts';

interface Now {
  readonly now: number;
}

interface Reading<R extends object, D> extends Now {
  readonly stored: Stored<R>;
  readonly services: D;
}

interface Collection<R extends object, D> {
  /** For acts that create or read its records: a literal cannot refer to itself. */
  readonly kind: RecordKind<R>;
  readonly services: D;
}

interface Making<D> extends Now {
  readonly caller: Caller;
  readonly id: string;
  readonly services: D;
}

/** The rights of a caller to a record, beyond its boundary. */
export interface Access<R extends object> {
  /** `use` permits reading. */
  of(owner: Owner, record: R): 'manage' | 'use' | null;
  /** Values of the index `reader`, by which a caller finds the records that it may use. */
  readers(owner: Owner): readonly string[];
  readonly forbidden: ErrorCode;
}

/** Methods of one item that write: verbs return its view, acts return something else. */
export type Verb<W extends Wire> = Exclude<Named<W, 'item', 'write'>, Answering<W>>;
export type Act<W extends Wire> = Extract<Named<W, 'item', 'write'>, Answering<W>>;

type Answering<W extends Wire> = {
  [N in keyof W['methods']]: W['methods'][N] extends { readonly out: object } ? N : never;
}[keyof W['methods']];

/** Methods of the wire with generated routes; those in `own` have separate ones. */
export type Named<W extends Wire, Part extends 'item' | 'all', Access extends 'read' | 'write'> = {
  [N in keyof W['table'][Part] & keyof W['methods']]: W['table'][Part][N] extends Access
    ? Exclude<N, OwnOf<W>>
    : never;
}[keyof W['table'][Part] & keyof W['methods']];

type OwnOf<W extends Wire> = W extends { readonly own: readonly (infer N)[] } ? N : never;

/** `F`: the result of `prepare`, before a record is created. `D`: the services that it uses. */
export interface Resource<W extends Wire, R extends object, F = undefined, D = undefined>
  extends RecordKind<R> {
  readonly prepare?: (input: InputOf<W>, services: D, caller: Caller) => Promise<F>;
  readonly create: (input: InputOf<W>, facts: F, at: Making<D>) => R;
  /** From the record and the fields of a `PATCH`. */
  readonly update?: [UpdateOf<W>] extends [never]
    ? never
    : (record: R, fields: UpdateOf<W>, at: Reading<R, D>) => R;
  /** The kind that `parent` of the wire names. A record is created only while its parent exists. */
  readonly parent?: ParentKind;
  /** The id chosen by the caller. */
  readonly idOf?: (input: InputOf<W>) => string | undefined;
  readonly access?: Access<R>;
  /** Bodies of requests may contain secrets besides the `secret` fields. */
  readonly secretBodies?: true;
  /** Methods of one item: from record to record. Refusals are thrown. */
  readonly verbs: {
    readonly [N in Verb<W>]: (record: R, input: MethodInput<W, N>, at: Reading<R, D>) => R;
  };
  /** Methods of one item in a change: they may write other records too. */
  readonly acts?: {
    readonly [N in Act<W>]: (
      stored: Stored<R>,
      input: MethodInput<W, N>,
      change: Change,
      services: D,
    ) => Promise<MethodOutput<W, N>>;
  };
  readonly reads?: {
    readonly [N in Named<W, 'item', 'read'>]: (
      record: R,
      input: MethodInput<W, N>,
      at: Reading<R, D>,
    ) => MethodOutput<W, N> | Promise<MethodOutput<W, N>>;
  };
  readonly all?: {
    readonly [N in Named<W, 'all', 'read'>]: (input: MethodInput<W, N>, at: Now) => MethodOutput<W, N>;
  };
  /** Methods of the whole collection that write. */
  readonly allActs?: {
    readonly [N in Named<W, 'all', 'write'>]: (
      input: MethodInput<W, N>,
      change: Change,
      of: Collection<R, D>,
    ) => Promise<MethodOutput<W, N>>;
  };
  /** Throws to refuse a deletion; may add further deletions. */
  readonly remove?: (record: R, stored: Stored<R>, change: Change) => void;
  readonly show: (stored: Stored<R>, services: D) => ViewOf<W> | Promise<ViewOf<W>>;
  readonly wire: W;
}

/** Of any record. */
export type ParentKind = RecordKind<never> & { readonly access?: Access<never> };

type Literal<W extends Wire, R extends object, F, D> = Omit<
  Resource<W, R, F, D>,
  'wire' | 'feed' | 'isTracked'
>;

/** The record type is given explicitly: inferred from the literal it would widen. */
export function resource<W extends Wire, R extends object, F = undefined, D = undefined>(
  wire: W,
  literal: Literal<W, R, F, D> & Complete<W, R, F, D>,
): Resource<W, R, F, D> {
  const { kind, parent, boundary, access }: Literal<W, R, F, D> = literal;
  if (parent && !parent.isParent)
    throw new Error(
      `Records of kind ${kind} belong to ${parent.kind}, whose literal must have isParent: true.`,
    );
  if (parent && (parent.boundary ?? 'tenant') !== (boundary ?? 'tenant'))
    throw new Error(`Records of kind ${kind} need the boundary of their parent ${parent.kind}.`);
  if (parent?.access && !access)
    throw new Error(`Records of kind ${kind} need access, since their parent ${parent.kind} has it.`);
  return { ...literal, wire, feed: wire.feed === true, isTracked: wire.update !== undefined };
}

/**
 * Every method that the wire declares has an implementation: one that is missing does not compile. Nor does a feed of
 * records with access rules: those of deleted records could not be checked.
 */
type Complete<W extends Wire, R extends object, F, D> = Needed<Resource<W, R, F, D>, 'acts', Act<W>> &
  Needed<Resource<W, R, F, D>, 'reads', Named<W, 'item', 'read'>> &
  Needed<Resource<W, R, F, D>, 'all', Named<W, 'all', 'read'>> &
  Needed<Resource<W, R, F, D>, 'allActs', Named<W, 'all', 'write'>> &
  Needed<Resource<W, R, F, D>, 'update', UpdateOf<W>> &
  Needed<Resource<W, R, F, D>, 'parent', W extends { readonly parent: object } ? 'parent' : never> &
  Filters<W, R> &
  (W extends { readonly feed: true } ? { readonly access?: never } : unknown);

/** Lists by these names read an index. */
type Filters<W extends Wire, R extends object> = [FilterOf<W>] extends [never]
  ? unknown
  : { readonly index: { readonly [N in FilterOf<W>]: NonNullable<RecordKind<R>['index']>[string] } };

type Needed<T, Member extends keyof T, Names> = [Names] extends [never] ? unknown : Required<Pick<T, Member>>;
