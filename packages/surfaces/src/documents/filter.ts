/** What a filter means once it is read: a tree whose leaves hold paths and values, never text of a query. */
import type { Json } from '@gantry/protocol';

/** Members from the outside in. Only objects are entered, never arrays. */
export type Path = readonly string[];

/**
 * `in`: equal as JSON to one of the values; no value at all counts as null.
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
  /** The id of the document, which its member `id` may write as a number. */
  | { readonly kind: 'id'; readonly id: string };

export type Comparison = '>' | '>=' | '<' | '<=';

/**
 * Nothing and null first, then false, true, numbers, text by the bytes of its beginning, and all else; equal ones as
 * they were inserted.
 */
export interface SortField {
  readonly path: Path;
  readonly descending: boolean;
}

export const EVERYTHING: Filter = { kind: 'all', of: [] };

export const isEqual = (path: Path, value: Json): Filter => ({ kind: 'in', path, values: [value] });

/** What a filter asks of single members at its top, by name: `{ a: 1, b: { $eq: 2 } }`. */
export function equalities(filter: Filter): Map<string, Json> {
  if (filter.kind === 'all') return new Map(filter.of.flatMap((each) => [...equalities(each)]));
  if (filter.kind !== 'in' || filter.path.length !== 1 || filter.values.length !== 1) return new Map();
  return new Map([[filter.path[0]!, filter.values[0]!]]);
}

/** Every backend can look such names up, whatever it writes paths with. */
export const isFieldName = (name: string): boolean =>
  /^[^$."\\\p{Cc}\p{Cs}][^."\\\p{Cc}\p{Cs}]{0,127}$/u.test(name);
