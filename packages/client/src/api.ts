/** The methods of a resource, from its table. */
import type {
  CreatedOf,
  FeedChanges,
  FilterOf,
  InputOf,
  MethodInput,
  MethodOutput,
  UpdateOf,
  ViewOf,
  Wire,
} from '@gantry/protocol';
import { createCalls, type UpdateOptions } from './calls.ts';
import type { Query, Transport } from './transport.ts';

/** A page of a list, newest first. */
export type Page<W extends Wire> = { [list in ListOf<W['table']>]: ViewOf<W>[] } & {
  /** Pass as `before` to get the next, older page. */
  nextBefore?: string;
};

type ListOf<T extends Wire['table']> = T extends { readonly list: infer L extends string } ? L : T['path'];

type Names<W extends Wire, Part extends 'item' | 'all'> = keyof W['table'][Part] & keyof W['methods'];

export type ResourceApi<W extends Wire> = {
  /** By one of its filters, or all. */
  list(page?: { before?: string; limit?: number } & { [N in FilterOf<W>]?: string }): Promise<Page<W>>;
  get(id: string): Promise<ViewOf<W>>;
  create(input: InputOf<W>): Promise<CreatedOf<W>>;
  remove(id: string): Promise<W extends { readonly gone: true } ? void : ViewOf<W>>;
} & ([UpdateOf<W>] extends [never]
  ? unknown
  : {
      /** The given fields replace those of the item. */
      update(id: string, fields: UpdateOf<W>, options?: UpdateOptions): Promise<ViewOf<W>>;
    }) &
  (W extends { readonly feed: true }
    ? {
        /** What was changed after a number; without one, the number to begin with. Kept for 7 days. */
        changes(page?: { after?: number; limit?: number }): Promise<FeedChanges>;
      }
    : unknown) & {
    [N in Names<W, 'item'>]: (id: string, input?: MethodInput<W, N>) => Promise<MethodOutput<W, N>>;
  } & {
    [N in Names<W, 'all'>]: (input: MethodInput<W, N>) => Promise<MethodOutput<W, N>>;
  };

export function api<W extends Wire>(
  transport: Transport,
  { path, url: items, item, all }: W['table'],
): ResourceApi<W> {
  const { read, send, update, remove } = createCalls(transport);
  const url = `/v1/host/gantry/${path}`;
  const at = (collection: string, id: string) => `${collection}/${encodeURIComponent(id)}`;
  const one = (id: string) => at(url, id);
  const ofItem = Object.entries(item ?? {}).map(([name, access]) => [
    name,
    access === 'read'
      ? (id: string, query?: Query) => read(`${one(id)}/${name}`, { ...query })
      : (id: string, input = {}) => send(`${one(id)}:${name}`, input),
  ]);
  const ofAll = Object.keys(all ?? {}).map((name) => [
    name,
    (input: unknown) => send(`${url}:${name}`, input),
  ]);
  const collection = items ?? url;
  return {
    list: (page: Query = {}) => read(collection, page),
    get: (id: string) => read(at(collection, id)),
    create: (input: unknown) => send(collection, input),
    update: (id: string, fields: unknown, options?: UpdateOptions) =>
      update(at(collection, id), fields, options),
    changes: (page: Query = {}) => read(`${url}/changes`, page),
    remove: (id: string) => remove(at(collection, id)),
    ...Object.fromEntries([...ofItem, ...ofAll]),
  };
}
