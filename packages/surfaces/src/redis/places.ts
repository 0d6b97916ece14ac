/** Where the entries of a tenant lie in Redis. */
import { fingerprintOf } from '../data.ts';

export type Area = 'kv' | 'cache';

interface Place {
  readonly namespace: string;
  readonly key: string;
}

/** `:` and braces of a tenant are escaped, so no two of them share a key. */
const keyOf = (tenant: string, ...parts: string[]): string =>
  `gantry:{${encodeURIComponent(tenant)}}:${parts.join(':')}`;

export const entriesKey = (area: Area, tenant: string): string => keyOf(tenant, area, 'entries');

/** Tenants by the first end among their entries. */
export const dueKey = (area: Area): string => `gantry:${area}:due`;

/** Of nobody: nothing is ever there. */
export const RIGHTS_KEY = 'gantry:rights';

/** In the order of `lua/entries.lua`. Only the cache knows what was used when. */
export function keysOf(area: Area, tenant: string, invocation = ''): string[] {
  return [
    ...['entries', 'names', 'expiry', 'size'].map((part) => keyOf(tenant, area, part)),
    dueKey(area),
    keyOf(tenant, 'call', invocation),
    ...(area === 'cache' ? [keyOf(tenant, area, 'used'), keyOf(tenant, 'progress', invocation)] : []),
  ];
}

const spaceOf = (namespace: string): string => `${Buffer.byteLength(namespace)}:${namespace}`;

export const nameOf = ({ namespace, key }: Place): string => `${spaceOf(namespace)}${key}`;

/** The key of a name in this namespace. */
export const keyIn = (namespace: string, name: string): string => name.slice(spaceOf(namespace).length);

/** Bounds of names, as ZRANGEBYLEX has them. */
export type Bounds = readonly [from: string, to: Buffer];

/** UTF-8 has no byte 255, so the last byte can always be one more. */
export function boundsOf(namespace: string, prefix: string): Bounds {
  const start = spaceOf(namespace) + prefix;
  const end = Buffer.from(`(${start}`);
  end[end.length - 1]! += 1;
  return [`[${start}`, end];
}

export const afterName = (name: string): string => `(${name}`;

const END_LENGTH = 16;
export const MARK_LENGTH = 43;

export interface StoredEntry {
  readonly expiresAt: number | null;
  readonly mark: string;
  readonly text: string;
}

export function readEntry(raw: string): StoredEntry {
  const ends = Number(raw.slice(0, END_LENGTH));
  return {
    expiresAt: ends === 0 ? null : ends,
    mark: raw.slice(END_LENGTH, END_LENGTH + MARK_LENGTH),
    text: raw.slice(END_LENGTH + MARK_LENGTH),
  };
}

/** Digests have no dots. */
export const NUMBER_MARK = 'number'.padEnd(MARK_LENGTH, '.');
export const NULL_MARK = 'null'.padEnd(MARK_LENGTH, '.');

/** Equal for values that are equal as JSON; numbers are told apart by themselves. */
export function markOf(value: unknown): string {
  if (value === null) return NULL_MARK;
  return typeof value === 'number' ? NUMBER_MARK : fingerprintOf('kv', value);
}
