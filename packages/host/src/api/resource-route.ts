/** What the generated routes of resources share: paths, callers, versions, and refusals of unknown names. */
import { callerOf } from '@gantry/http';
import { didYouMean, invalid, type Owner, type Table } from '@gantry/protocol';
import { type Caller, type Matching, personCaller, type RecordKind, type Shown } from '@gantry/resources';
import type { EntryFilter } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';

export const Id = Type.String({ minLength: 1, maxLength: 128 });
/** The `ETag` of an earlier answer, quoted, or `*`. */
export const IfMatch = Type.Object({ 'if-match': Type.Optional(Type.String()) });

export type View = Readonly<Record<string, unknown>>;

/** A service whose wire is known only at run time. The schemas of the routes validate its input. */
export interface AnyService {
  create(caller: Caller, input: unknown): Promise<Shown<View>>;
  get(caller: Caller, id: string): Promise<Shown<View>>;
  page(caller: Caller, filter: EntryFilter): Promise<{ shown: Shown<View>[]; hasMore: boolean }>;
  assertParentSeen(owner: Owner, id: string): Promise<void>;
  update(caller: Caller, id: string, fields: unknown, matching: Matching): Promise<Shown<View>>;
  call(caller: Caller, verb: string, id: string, input: unknown, matching: Matching): Promise<Shown<View>>;
  act(caller: Caller, name: string, id: string, input: unknown, matching: Matching): Promise<unknown>;
  read(caller: Caller, name: string, id: string, input: unknown): Promise<unknown>;
  all(name: string, input: unknown): unknown;
  actAll(caller: Caller, name: string, input: unknown): Promise<unknown>;
  remove(caller: Caller, id: string, matching: Matching): Promise<Shown<View>>;
  readonly digest: ((text: string) => string) | undefined;
  readonly kind: Pick<RecordKind<never>, 'kind' | 'boundary' | 'feed'>;
}

/** `claim` identifies the idempotency record of the answer. */
export const personOf = (request: unknown, claim?: Extract<Caller, { kind: 'person' }>['request']): Caller =>
  personCaller(callerOf(request), claim);

export const etagOf = ({ version }: Shown<View>): string => `"${version}"`;

export function matchingOf({ headers: { 'if-match': wanted } }: FastifyRequest): Matching {
  if (wanted === undefined || wanted === '*') return {};
  const [, version] = /^"(\d{1,16})"$/.exec(wanted) ?? [];
  if (version !== undefined) return { version: Number(version) };
  throw invalid('If-Match must be the ETag of an earlier answer, or *.', { header: 'If-Match' });
}

/** `items` is the path to create, read and delete items; `methods` is the path of their methods. */
export function pathsOf({ path, url, id = 'id' }: Table) {
  const methods = `/v1/host/gantry/${path}`;
  const items = url ?? methods;
  // Ids contain no colon: a verb follows it
  const name = `:${id}(^[^:/]+)`;
  return { items, item: `${items}/${name}`, methods, method: `${methods}/${name}`, params: paramsOf(id) };
}

const paramsOf = (id: string) => Type.Object({ [id]: Id });

export const idOf = (request: { readonly params: Readonly<Record<string, string>> }): string =>
  Object.values(request.params)[0]!;

/** Refuses names that a list or a change does not know, with those that it does. `what` is `filter` or `member`. */
export function refuseUnknown(
  given: object,
  known: readonly string[],
  { part, what }: { readonly part: 'query' | 'body'; readonly what: string },
): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const name = unknown.slice(0, NAME_SHOWN_MAX);
  throw invalid(`${part} has no ${what} "${name}".${didYouMean(name, known)} It takes ${known.join(', ')}.`, {
    fields: [{ field: `${part}/${name}`, problem: `is not one of ${known.join(', ')}` }],
  });
}

const NAME_SHOWN_MAX = 64;

export const propertiesOf = (schema: TSchema): Readonly<Record<string, TSchema>> =>
  (schema as { readonly properties?: Readonly<Record<string, TSchema>> }).properties ?? {};
