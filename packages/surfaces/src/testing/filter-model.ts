/** What filters and orders mean, in plain JavaScript. The databases are held to it. */
import type { Json, JsonObject } from '@gantry/protocol';
import { isObject } from '../calls/data.ts';
import type { Comparison, Filter, Path, SortField } from '../capabilities/documents/filter.ts';
import { SORTED_CHARACTERS } from '../capabilities/documents/query-sql.ts';
import { sameJson } from '../text.ts';

export function matches(document: JsonObject, filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.of.every((each) => matches(document, each));
    case 'any':
      return filter.of.some((each) => matches(document, each));
    case 'not':
      return !matches(document, filter.of);
    case 'in':
      return filter.values.some((value) => sameJson(valueAt(document, filter.path) ?? null, value));
    case 'compare':
      return compares(valueAt(document, filter.path), filter.is, filter.value);
    case 'exists':
      return valueAt(document, filter.path) !== undefined;
    case 'id':
      return filter.ids.includes(String(document.id));
  }
}

function valueAt(document: JsonObject, path: Path): Json | undefined {
  let value: Json | undefined = document;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name] as Json;
  }
  return value;
}

function compares(value: Json | undefined, is: Comparison, with_: number | string): boolean {
  if (typeof value !== typeof with_) return false;
  const order =
    typeof value === 'number' ? value - (with_ as number) : bytesOrder(value as string, with_ as string);
  return { '>': order > 0, '>=': order >= 0, '<': order < 0, '<=': order <= 0 }[is];
}

const bytesOrder = (left: string, right: string): number =>
  Buffer.compare(Buffer.from(left), Buffer.from(right));

/** Sorts documents that are in the order of their insertion. */
export const sorted = (documents: readonly JsonObject[], sort: readonly SortField[]): JsonObject[] =>
  documents.toSorted((left, right) => {
    for (const { path, descending } of sort) {
      const order = valueOrder(valueAt(left, path), valueAt(right, path));
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  });

function valueOrder(left: Json | undefined, right: Json | undefined): number {
  const ranks = rankOf(left) - rankOf(right);
  if (ranks !== 0) return ranks;
  if (typeof left === 'number' || typeof left === 'boolean') return Math.sign(Number(left) - Number(right));
  return typeof left === 'string' ? bytesOrder(beginning(left), beginning(String(right))) : 0;
}

const beginning = (text: string): string => Array.from(text).slice(0, SORTED_CHARACTERS).join('');

function rankOf(value: Json | undefined): number {
  if (value === undefined || value === null) return 0;
  return { boolean: 1, number: 2, string: 3 }[typeof value as 'boolean' | 'number' | 'string'] ?? 4;
}
