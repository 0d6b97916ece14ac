/** A resource is a literal: how its records are stored, and pure functions from record to record. */
import type { ErrorCode, InputOf, MethodInput, MethodOutput, Owner, ViewOf, Wire } from '@gantry/protocol';
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

/** The record type is given explicitly: inferred from the literal it would widen. */
export const resource = <W extends Wire, R extends object, F = undefined, D = undefined>(
  wire: W,
  literal: Omit<Resource<W, R, F, D>, 'wire'> & Complete<W, R, F, D>,
): Resource<W, R, F, D> => ({ ...literal, wire });

/** Every method that the wire declares has an implementation: one that is missing does not compile. */
type Complete<W extends Wire, R extends object, F, D> = Needed<Resource<W, R, F, D>, 'acts', Act<W>> &
  Needed<Resource<W, R, F, D>, 'reads', Named<W, 'item', 'read'>> &
  Needed<Resource<W, R, F, D>, 'all', Named<W, 'all', 'read'>> &
  Needed<Resource<W, R, F, D>, 'allActs', Named<W, 'all', 'write'>>;

type Needed<T, Member extends keyof T, Names> = [Names] extends [never] ? unknown : Required<Pick<T, Member>>;
