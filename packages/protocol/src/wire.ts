/** What a resource looks like from outside: enough for routes, clients, commands and documentation. */
import type { Static, TSchema } from 'typebox';
import type { Scope } from './scope.ts';

/** The names alone, with what each may do. All that a browser or a command line has to load. */
export interface Table {
  /** Of its routes: `schedules`. */
  readonly path: string;
  /** Where the protocol lays down the path of items; methods stay below the path of this host. */
  readonly url?: string;
  /** The member of an answer that holds a list, when it is not `path`. */
  readonly list?: string;
  /** The same list again, under the name that other clients read. */
  readonly alsoListed?: string;
  /** Of one item, in its path and its view: `scheduleId`. `id` when absent. */
  readonly id?: string;
  /** Methods of one item: `pause`. */
  readonly item?: Readonly<Record<string, 'read' | 'write'>>;
  /** Methods of the whole collection: `preview`. */
  readonly all?: Readonly<Record<string, 'read' | 'write'>>;
}

export interface MethodWire {
  /** One line of help: `Skip its ticks until resumed`. */
  readonly about: string;
  readonly in: TSchema;
  /** Without it the view of the item. */
  readonly out?: TSchema;
  /** Answers 202: what it asks for happens later. */
  readonly accepted?: true;
  /** Where it needs others than those of `scopes`. */
  readonly scopes?: readonly Scope[];
}

type MethodName<T extends Table> = (keyof NonNullable<T['item']> | keyof NonNullable<T['all']>) & string;

export interface Wire<T extends Table = Table> {
  readonly table: T;
  /** What it is for, one line of help. */
  readonly about: string;
  readonly scopes: { readonly read: readonly Scope[]; readonly write: readonly Scope[] };
  /** How many a list answers when no limit is given; 50 when absent. */
  readonly listed?: number;
  /** What creates an item. */
  readonly input: TSchema;
  /** What creating answers, when it is not the view. */
  readonly created?: TSchema;
  readonly view: TSchema;
  /** Deleting answers nothing instead of the view. */
  readonly gone?: true;
  /** What has routes of its own: `create`, `get`, `remove` or a method. */
  readonly own?: readonly string[];
  readonly methods: { readonly [name in MethodName<T>]: MethodWire };
}

export type InputOf<W extends Wire> = Static<W['input']>;
export type ViewOf<W extends Wire> = Static<W['view']>;
export type CreatedOf<W extends Wire> = W extends { readonly created: infer C extends TSchema }
  ? Static<C>
  : ViewOf<W>;
export type MethodInput<W extends Wire, N extends keyof W['methods']> = W['methods'][N] extends {
  readonly in: infer I extends TSchema;
}
  ? Static<I>
  : never;
export type MethodOutput<W extends Wire, N extends keyof W['methods']> = W['methods'][N] extends {
  readonly out: infer O extends TSchema;
}
  ? Static<O>
  : ViewOf<W>;

/** The methods are checked against the table: a missing or unknown one does not compile. */
export const wire = <const T extends Table, const R extends Omit<Wire<T>, 'table'>>(
  table: T,
  rest: R,
): R & { readonly table: T } => ({ ...rest, table });
