/** The building blocks for schemas of literals. */
import { type JsonObject, type Json as JsonValue, optional } from '@gantry/protocol';
import Type, { type TProperties } from 'typebox';
import { isJson, isObject } from './data.ts';

export { optional } from '@gantry/protocol';

export const Text = Type.String();
export const Flag = Type.Boolean();
export const Amount = Type.Number();
export const Whole = Type.Integer();
export const Count = Type.Integer({ minimum: 0 });
/** The answer of a write that returns nothing else. */
export const Done = { ok: Type.Literal(true) };

export const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
export const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
export const listOf = <T extends TProperties>(members: T, maxItems?: number) =>
  Type.Array(Type.Object(members), maxItems === undefined ? {} : { maxItems });

/** Any JSON value. Bytes are not JSON: a pack that stores them has to encode them. */
export const Json = Type.Refine(
  Type.Unsafe<JsonValue>({ description: 'any JSON value' }),
  isJson,
  () => 'must be JSON; write bytes as base64',
);

export const Bytes = Type.Refine(
  Type.Unsafe<Uint8Array>({ description: 'bytes' }),
  (value) => value instanceof Uint8Array,
  () => 'must be bytes, a Uint8Array',
);

/** Text that every backend can store: PostgreSQL refuses NUL, and a lone surrogate has no UTF-8. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

export const plainText = (options: { readonly minLength?: number; readonly maxLength?: number }) =>
  Type.Refine(
    Type.String(options),
    isPlainText,
    () => 'must be text without NUL characters and lone surrogates',
  );

export function isPlainJson(value: JsonValue): boolean {
  if (typeof value === 'string') return isPlainText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlainJson);
  return Object.entries(value).every(([name, member]) => isPlainText(name) && isPlainJson(member));
}

/** A row, a document, a filter or an update. */
export const PlainObject = Type.Refine(
  Type.Unsafe<JsonObject>({ type: 'object', description: 'an object of JSON values' }),
  (value) => isObject(value) && isJson(value) && isPlainJson(value),
  () => 'must be an object of JSON values, its texts without NUL characters and lone surrogates',
);

/** The parser of the filter checks its content. */
export const FilterObject = Type.Refine(
  Type.Unsafe<JsonObject>({ type: 'object', description: 'a filter' }),
  (value) => isObject(value) && isJson(value),
  () => 'must be an object of JSON values',
);

/** A row or a document in an answer. */
export const AnyObject = Type.Record(Type.String(), Type.Unknown());

/** Limited only by the message size; the surface reports a longer key than it allows with its own code. */
export const Key = plainText({ minLength: 1 });
/** A hard limit; surfaces have lower ones with their own codes. */
export const Name = plainText({ minLength: 1, maxLength: 4_096 });
/** The name of a table, a collection or an index, or of an item in one. */
export const CollectionText = plainText({ minLength: 1, maxLength: 128 });
export const DatasourceId = plainText({ minLength: 1, maxLength: 64 });
/** May be empty. */
export const Prefix = plainText({ maxLength: 1_024 });
const NAMESPACE_CHARACTERS_MAX = 128;
export const Namespace = plainText({ maxLength: NAMESPACE_CHARACTERS_MAX });
export const NAMESPACES = `\`namespace\` keeps keys apart and has up to ${NAMESPACE_CHARACTERS_MAX} characters; it is empty unless given.`;

export const Seconds = Type.Number({ exclusiveMinimum: 0 });
export const Timestamp = Type.String({ description: 'ISO 8601' });
export const Cursor = Type.String({ minLength: 1, maxLength: 4_096 });

const LIST_LIMIT = 100;
const LIST_LIMIT_MAX = 1_000;

/** The requested page size. A page reports whether more follow, so a host may return fewer. */
const PageLimit = Type.Integer({ minimum: 1 });
export const Paging = { cursor: optional(Cursor), limit: optional(PageLimit) };
export const Following = { nextCursor: optional(Text) };
export const PAGES = `A page has ${LIST_LIMIT} entries, or as many as \`limit\` says; above ${LIST_LIMIT_MAX.toLocaleString('en-GB')} it is taken for that.`;
export const pageSize = (limit = LIST_LIMIT): number => Math.min(limit, LIST_LIMIT_MAX);
