/** JSON that every backend can keep and look up: PostgreSQL refuses NUL and half surrogate pairs in text. */
import type { Json, JsonObject } from '@gantry/protocol';
import Type from 'typebox';
import { isJson, isObject } from '../../calls/data.ts';

export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

export function isPlainJson(value: Json): boolean {
  if (typeof value === 'string') return isPlainText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlainJson);
  return Object.entries(value).every(([name, member]) => isPlainText(name) && isPlainJson(member));
}

/** A row, a document, a filter or what changes one. */
export const PlainObject = Type.Refine(
  Type.Unsafe<JsonObject>({ type: 'object', description: 'an object of JSON values' }),
  (value) => isObject(value) && isJson(value) && isPlainJson(value),
  () => 'must be an object of JSON values, its texts without NUL and without half surrogate pairs',
);

/** What a filter may hold is for its reader to say. */
export const FilterObject = Type.Refine(
  Type.Unsafe<JsonObject>({ type: 'object', description: 'a filter' }),
  (value) => isObject(value) && isJson(value),
  () => 'must be an object of JSON values',
);

/** Of a table or collection. */
export const CollectionText = Type.Refine(
  Type.String({ minLength: 1, maxLength: 128 }),
  isPlainText,
  () => 'must be text without NUL and without half surrogate pairs',
);
