import type { Json as JsonValue } from '@gantry/protocol';
import Type from 'typebox';
import { isJson } from './data.ts';

/** Any JSON value. Bytes are no JSON: a pack that stores them says how they are written. */
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

/** A name that every backend can keep: PostgreSQL refuses NUL, and half a surrogate pair has no UTF-8. */
const plainText = (options: { readonly minLength?: number; readonly maxLength?: number }) =>
  Type.Refine(
    Type.String(options),
    (value) => value.isWellFormed() && !value.includes('\0'),
    () => 'must be text without NUL and without half surrogate pairs',
  );

/** As long as the message that it came in: the surface says what is too long for it, with a code of its own. */
export const Key = plainText({ minLength: 1 });
/** A hard limit; surfaces have shorter ones with codes of their own. */
export const Name = plainText({ minLength: 1, maxLength: 4_096 });
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

/** How many a page may have. A page says whether more follow, so a host may give fewer than were asked for. */
export const PageLimit = Type.Integer({ minimum: 1 });
export const PAGES = `A page has ${LIST_LIMIT} entries, or as many as \`limit\` says; above ${LIST_LIMIT_MAX.toLocaleString('en-GB')} it is taken for that.`;
export const pageSize = (limit = LIST_LIMIT): number => Math.min(limit, LIST_LIMIT_MAX);
