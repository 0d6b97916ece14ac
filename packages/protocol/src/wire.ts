/** The API of a resource: enough for routes, clients, commands and documentation. */
import type { Static, TSchema } from 'typebox';
import type { Scope } from './scope.ts';

/** The names of a resource and its methods. Browsers and command lines load only this. */
export interface Table {
  /** The path of its routes: `schedules`. */
  readonly path: string;
  /** Set if the protocol defines the path of items; methods stay below the path of this host. */
  readonly url?: string;
  /** The member of a response that contains the list, if it is not `path`. */
  readonly list?: string;
  /** An alias of the list for other clients. */
  readonly alsoListed?: string;
  /** The name of the id of an item, in its path and its view: `scheduleId`. Default: `id`. */
  readonly id?: string;
  /** Methods of one item: `pause`. */
  readonly item?: Readonly<Record<string, 'read' | 'write'>>;
  /** Methods of the whole collection: `preview`. */
  readonly all?: Readonly<Record<string, 'read' | 'write'>>;
}

/** @example resourceName('dead-letters') // 'deadLetters': its wire is `deadLettersWire`, and in clients `deadLetters` */
export const resourceName = (path: string): string =>
  path.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

export interface MethodWire {
  /** One line of help: `Skip its ticks until resumed`. */
  readonly about: string;
  readonly in: TSchema;
  /** Default: the view of the item. */
  readonly out?: TSchema;
  /** Responds with 202: the action happens later. */
  readonly accepted?: true;
  /** If it needs other scopes than `scopes`. */
  readonly scopes?: readonly Scope[];
}

type MethodName<T extends Table> = (keyof NonNullable<T['item']> | keyof NonNullable<T['all']>) & string;

export interface Wire<T extends Table = Table> {
  readonly table: T;
  /** One line of help. */
  readonly about: string;
  readonly scopes: { readonly read: readonly Scope[]; readonly write: readonly Scope[] };
  /** The number of items of a list without a limit. Default: 50. */
  readonly listed?: number;
  /** The body that creates an item. */
  readonly input: TSchema;
  /** The response of a create, if it is not the view. */
  readonly created?: TSchema;
  readonly view: TSchema;
  /** A delete returns nothing instead of the view. */
  readonly gone?: true;
  /** A closed object of optional fields, which `PATCH` changes. */
  readonly update?: TSchema;
  /** Lists can be filtered by one of these: `?folder=work`. */
  readonly by?: readonly string[];
  /**
   * Items belong to an item of this resource, whose id they have under its name, in the input and as a filter. They
   * are removed with it.
   */
  readonly parent?: Table & { readonly id: string };
  /** Changes are listed, for 7 days, and can be followed. */
  readonly feed?: true;
  /** Headings of lists and the members of the view below them: a command line is derived. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Operations with their own routes: `create`, `get`, `remove` or a method. */
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

export type UpdateOf<W extends Wire> = W extends { readonly update: infer U extends TSchema }
  ? Static<U>
  : never;
export type FilterOf<W extends Wire> =
  | (W extends { readonly by: readonly (infer N extends string)[] } ? N : never)
  | (W extends { readonly parent: { readonly id: infer N extends string } } ? N : never);

/** The names by which its lists can be filtered, one at a time. */
export const filtersOf = ({ by = [], parent }: Wire): string[] => [...by, ...(parent ? [parent.id] : [])];

/** The methods are checked against the table: a missing or unknown one does not compile. */
export const wire = <const T extends Table, const R extends Omit<Wire<T>, 'table'>>(
  table: T,
  rest: R & { readonly columns?: Readonly<Record<string, keyof Static<R['view']>>> },
): R & { readonly table: T } => ({ ...rest, table });
