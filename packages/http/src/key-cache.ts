/** Caches keys by the hash of their secret for a short time, so that a request needs no I/O. */

import { timingSafeEqual } from 'node:crypto';
import type { KeyRecord, RecordReads } from '@gantry/store';
import { endOf } from './auth.ts';
import { type BrowserSessions, sessionIn } from './browser-session.ts';
import type { Caller } from './context.ts';

/** How long a change of a key by another process may go unnoticed here. */
const REMEMBERED_MS = 5_000;
const KNOWN_MAX = 10_000;
const UNKNOWN_MAX = 10_000;

export interface CachedKey {
  readonly record: KeyRecord;
  readonly caller: Caller;
  /** The end of the session that stands for the key. */
  readonly sessionEndsAt?: number;
}

/** Keys by their credential: the hash of their secret, or `sessionCredential`. */
export interface KeyCache {
  /** Undefined if the store must be read; null if there is no such key. */
  recall(credential: string): CachedKey | null | undefined;
  load(credential: string): Promise<CachedKey | null>;
  /** Call after any change of a key, by this process or another one. */
  clear(): void;
  /** Called after each such change. */
  onCleared(listener: () => void): void;
}

interface Remembered<T> {
  readonly value: T;
  readonly until: number;
}

function remember<T>(
  map: Map<string, Remembered<T>>,
  max: number,
  credential: string,
  entry: Remembered<T>,
): void {
  map.delete(credential);
  if (map.size >= max) map.delete(map.keys().next().value!);
  map.set(credential, entry);
}

const sameHash = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

interface KeyCacheOptions {
  /** Hears of valid keys. */
  readonly used?: (key: KeyRecord) => void;
  readonly sessions?: Pick<BrowserSessions, 'find'> | undefined;
}

/** Known and unknown keys have separate caches: guesses never evict a real key. */
export function createKeyCache(
  records: Pick<RecordReads, 'keyByHash'>,
  now: () => number,
  { used, sessions }: KeyCacheOptions = {},
): KeyCache {
  const known = new Map<string, Remembered<CachedKey>>();
  const unknown = new Map<string, Remembered<null>>();
  const listeners: (() => void)[] = [];
  /** Counts changes: a key that was read before a change must not be remembered after it. */
  let changes = 0;

  async function findKey(hash: string): Promise<CachedKey | null> {
    const record = await records.keyByHash(hash);
    if (record === null || !sameHash(record.hash, hash)) return null;
    const { keyId, tenant, workspace, principal, scopes } = record;
    const caller = { keyId, tenant, workspace, principal, scopes: new Set(scopes) };
    return { record, caller };
  }

  async function find(credential: string): Promise<CachedKey | null> {
    const id = sessionIn(credential);
    if (id === null) return findKey(credential);
    const session = (await sessions?.find(id)) ?? null;
    const key = session && (await findKey(session.keyHash));
    return key && { ...key, sessionEndsAt: session.endsAt };
  }

  return {
    recall(credential) {
      const entry = known.get(credential) ?? unknown.get(credential);
      return entry !== undefined && entry.until > now() ? entry.value : undefined;
    },
    async load(credential) {
      const seen = changes;
      const value = await find(credential);
      const until = seen === changes ? now() + REMEMBERED_MS : 0;
      if (value === null) {
        known.delete(credential);
        remember(unknown, UNKNOWN_MAX, credential, { value, until });
      } else {
        unknown.delete(credential);
        remember(known, KNOWN_MAX, credential, { value, until });
      }
      if (value && !endOf(value, now())) used?.(value.record);
      return value;
    },
    clear() {
      changes++;
      known.clear();
      unknown.clear();
      for (const hear of listeners) hear();
    },
    onCleared(listener) {
      listeners.push(listener);
    },
  };
}
