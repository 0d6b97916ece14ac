/** Any JSON value. Data from outside is `Json` until it is validated by a schema. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** Neither null nor a list. */
/** The JSON pointer to a member of the value at `parent`. */
export const pointer = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values from outside have at most so many levels: functions that recurse over them cannot overflow the stack. */
export const NESTING_MAX = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: readonly number[] = [0x5b, 0x7b];
const CLOSING: readonly number[] = [0x5d, 0x7d];

/** The deepest nesting of objects and arrays in JSON. Stops counting one above `limit`. */
export function nestingDepth(json: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPENING[0] || code === OPENING[1]) {
      if (++depth > deepest) deepest = depth;
      if (deepest > limit) return deepest;
    } else if (code === CLOSING[0] || code === CLOSING[1]) depth--;
  }
  return deepest;
}

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The members that have a value: `given({ at, limit: undefined })` is `{ at }`. */
export function given<T extends object>(members: T): Given<T> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<T>;
}

/** Times are milliseconds internally and ISO 8601 on the wire. */
export const isoTime = (at: number): string => new Date(at).toISOString();
