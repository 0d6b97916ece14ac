/** A parsed filter: a tree whose leaves hold paths and values, never text of a query. */
import type { Json } from '@gantry/protocol';

/** Member names from outer to inner. Only objects are entered, never arrays. */
export type Path = readonly string[];

/**
 * `in`: equal as JSON to one of the values; a missing value counts as null.
 * `compare`: only numbers with numbers, and text with text in the order of its UTF-8 bytes.
 */
export type Filter =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'in'; readonly path: Path; readonly values: readonly Json[] }
  | {
      readonly kind: 'compare';
      readonly path: Path;
      readonly is: Comparison;
      readonly value: number | string;
    }
  | { readonly kind: 'exists'; readonly path: Path }
  /** The id of the document is one of these; its member `id` may be a number. */
  | { readonly kind: 'id'; readonly ids: readonly string[] };

export type Comparison = '>' | '>=' | '<' | '<=';

/** Order: missing and null, false, true, numbers, text by bytes, all else; equal ones by insertion. */
export interface SortField {
  readonly path: Path;
  readonly descending: boolean;
}

export const EVERYTHING: Filter = { kind: 'all', of: [] };

export const isEqual = (path: Path, value: Json): Filter => ({ kind: 'in', path, values: [value] });

/** The equalities of a filter, by path: `{ a: 1, 'b.c': { $eq: 2 } }`. */
export function equalPaths(filter: Filter): [Path, Json][] {
  if (filter.kind === 'all') return filter.of.flatMap(equalPaths);
  if (filter.kind === 'id' && filter.ids.length === 1) return [[['id'], filter.ids[0]!]];
  if (filter.kind !== 'in' || filter.values.length !== 1) return [];
  return [[filter.path, filter.values[0]!]];
}

export const equalities = (filter: Filter): Map<string, Json> =>
  new Map(
    equalPaths(filter)
      .filter(([path]) => path.length === 1)
      .map(([[name], value]): [string, Json] => [name!, value]),
  );

/** Converts the filter for documents whose ids are stored as text: `{ id: 5 }` and `{ id: '5' }` are equal. */
export function comparingIds(filter: Filter): Filter {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return { kind: filter.kind, of: filter.of.map(comparingIds) };
    case 'not':
      return { kind: 'not', of: comparingIds(filter.of) };
    case 'in':
      return filter.path.length === 1 && filter.path[0] === 'id'
        ? { kind: 'id', ids: idsOf(filter.values) }
        : filter;
    default:
      return filter;
  }
}

const idsOf = (values: readonly Json[]): string[] =>
  values.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);

/** Names that every backend can look up, whatever its path syntax. */
export const isFieldName = (name: string): boolean =>
  /^[^$."\\\p{Cc}\p{Cs}][^."\\\p{Cc}\p{Cs}]{0,127}$/u.test(name);
