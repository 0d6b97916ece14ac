/**
 * Reduces writes to the value of a channel. Pure and total: a write that a reducer does not accept changes
 * nothing, so that folding never throws. `misfitOf` reports such writes beforehand.
 *
 * Entries of a channel with a `ttlMs` are stored, and recorded, as `{ value, _ts }`.
 */
import type { ChannelDeclaration, Json, JsonObject } from '@gantry/protocol';
import { copyInto, isObject } from '../json.ts';

/** The limits for folding one write. They are in the event, since a fold does not know the declaration. */
export interface Bounds {
  readonly ttlMs?: number;
  readonly maxSize?: number;
}

const VENDOR = /^vendor\.[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/;
const OTHERS: ReadonlySet<string> = new Set(['replace', 'merge', 'counter']);
const LISTS: ReadonlySet<string> = new Set(['append', 'votes', 'feedback', 'message']);
/** These drop old entries, by age and by number. */
const DROPS_OLDEST: ReadonlySet<string> = new Set(['append', 'votes', 'feedback']);

export const isReducer = (name: string): boolean => LISTS.has(name) || OTHERS.has(name) || VENDOR.test(name);
export const isList = (reducer: string): boolean => LISTS.has(reducer);

export function boundsOf({ reducer, ttlMs, maxSize }: ChannelDeclaration): Bounds {
  if (!DROPS_OLDEST.has(reducer)) return {};
  return { ...(ttlMs !== undefined && { ttlMs }), ...(maxSize !== undefined && { maxSize }) };
}

/** The value of a channel without writes and without a default; undefined if it has none. */
export function emptyOf(reducer: string): Json | undefined {
  if (isList(reducer)) return [];
  if (reducer === 'merge') return {};
  return reducer === 'counter' ? 0 : undefined;
}

/** `at` is the time of the write's event. An unknown reducer replaces the value, as clients must assume. */
export function reduce(
  reducer: string,
  current: Json | undefined,
  entry: Json,
  at: number,
  bounds: Bounds,
): Json {
  switch (reducer) {
    case 'append':
    case 'feedback':
      return push(fresh(current, at, bounds), entry, bounds);
    case 'votes':
      return push(withoutVoter(fresh(current, at, bounds), entry, bounds), entry, bounds);
    case 'message':
      return addMessage(listOf(current), entry);
    case 'merge':
      return merge(current, entry);
    case 'counter':
      return add(current, entry);
    default:
      return entry;
  }
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function fresh(current: Json | undefined, at: number, { ttlMs }: Bounds): readonly Json[] {
  const entries = listOf(current);
  if (ttlMs === undefined) return entries;
  return entries.filter(
    (entry) => !(isObject(entry) && typeof entry._ts === 'number' && entry._ts < at - ttlMs),
  );
}

function push(entries: readonly Json[], entry: Json, { maxSize }: Bounds): Json[] {
  const all = [...entries, entry];
  return maxSize === undefined || all.length <= maxSize ? all : all.slice(all.length - maxSize);
}

/** The written value, without the timestamp that a channel with `ttlMs` stores with it. */
export function contentOf(entry: Json | undefined, { ttlMs }: Bounds): Json | undefined {
  return ttlMs !== undefined && isObject(entry) && 'value' in entry ? entry.value : entry;
}

function withoutVoter(entries: readonly Json[], entry: Json, bounds: Bounds): readonly Json[] {
  const voter = voterOf(contentOf(entry, bounds));
  if (voter === undefined) return entries;
  return entries.filter((earlier) => voterOf(contentOf(earlier, bounds)) !== voter);
}

/** The text of the protocol uses `userId`, its payload schema uses `voter`. */
function voterOf(vote: Json | undefined): string | undefined {
  if (!isObject(vote)) return;
  const voter = vote.userId ?? vote.voter;
  return typeof voter === 'string' && voter !== '' ? voter : undefined;
}

function messageIdOf(message: Json): string | undefined {
  const id = isObject(message) ? message.messageId : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function addMessage(messages: readonly Json[], message: Json): Json[] {
  const id = messageIdOf(message);
  const known = id === undefined || messages.some((earlier) => messageIdOf(earlier) === id);
  return known ? [...messages] : [...messages, message];
}

function merge(current: Json | undefined, next: Json): Json {
  const merged: JsonObject = {};
  if (isObject(current)) copyInto(merged, current);
  if (isObject(next)) copyInto(merged, next);
  return merged;
}

function add(current: Json | undefined, next: Json): Json {
  const before = typeof current === 'number' ? current : 0;
  const sum = typeof next === 'number' ? before + next : before;
  return Number.isFinite(sum) ? sum : before;
}

/** Why the reducer does not accept this write, as a phrase that follows the channel's name. */
export function misfitOf(reducer: string, current: Json | undefined, write: Json): string | undefined {
  switch (reducer) {
    case 'merge':
      return isObject(write) ? undefined : 'takes objects only';
    case 'counter': {
      if (typeof write !== 'number') return 'takes numbers only';
      const sum = (typeof current === 'number' ? current : 0) + write;
      return Number.isFinite(sum) ? undefined : 'would exceed the largest exact number';
    }
    case 'votes':
      return voterOf(write) === undefined ? 'takes votes: objects with a `userId`' : undefined;
    case 'feedback':
      return isObject(write) ? undefined : 'takes feedback: objects only';
    case 'message':
      return messageIdOf(write) === undefined ? 'takes messages: objects with a `messageId`' : undefined;
    default:
      return;
  }
}

/** The size of a value for `maxSize`. */
export function sizeOf(value: Json): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 1;
}
