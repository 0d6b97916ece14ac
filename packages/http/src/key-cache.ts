/** Caches keys by the hash of their secret for a short time, so that a request needs no I/O. */

import { timingSafeEqual } from 'node:crypto';
import type { KeyRecord, RecordReads } from '@gantry/store';
import { isLiveKey } from './auth.ts';
import type { Caller } from './context.ts';

/** How long a change of a key by another process may go unnoticed here. */
const REMEMBERED_MS = 5_000;
const KNOWN_MAX = 10_000;
const UNKNOWN_MAX = 10_000;

export interface CachedKey {
  readonly record: KeyRecord;
  readonly caller: Caller;
}

export interface KeyCache {
  /** Undefined if the store must be read; null if there is no such key. */
  recall(hash: string): CachedKey | null | undefined;
  load(hash: string): Promise<CachedKey | null>;
  /** Call after any change of a key, by this process or another one. */
  clear(): void;
  /** Called after each such change. */
  onCleared(listener: () => void): void;
}

interface Remembered<T> {
  readonly value: T;
  readonly until: number;
}

function remember<T>(map: Map<string, Remembered<T>>, max: number, hash: string, entry: Remembered<T>): void {
  map.delete(hash);
  if (map.size >= max) map.delete(map.keys().next().value!);
  map.set(hash, entry);
}

const sameHash = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** Known and unknown keys have separate caches: guesses never evict a real key. `used` hears of valid keys. */
export function createKeyCache(
  records: Pick<RecordReads, 'keyByHash'>,
  now: () => number,
  used: (key: KeyRecord) => void = () => {},
): KeyCache {
  const known = new Map<string, Remembered<CachedKey>>();
  const unknown = new Map<string, Remembered<null>>();
  const listeners: (() => void)[] = [];
  /** Counts changes: a key that was read before a change must not be remembered after it. */
  let changes = 0;
  return {
    recall(hash) {
      const entry = known.get(hash) ?? unknown.get(hash);
      return entry !== undefined && entry.until > now() ? entry.value : undefined;
    },
    async load(hash) {
      const seen = changes;
      const record = await records.keyByHash(hash);
      const until = seen === changes ? now() + REMEMBERED_MS : 0;
      if (record === null || !sameHash(record.hash, hash)) {
        known.delete(hash);
        remember(unknown, UNKNOWN_MAX, hash, { value: null, until });
        return null;
      }
      if (isLiveKey(record, now())) used(record);
      const { keyId, tenant, workspace, principal, scopes } = record;
      const caller = { keyId, tenant, workspace, principal, scopes: new Set(scopes) };
      const value = { record, caller };
      unknown.delete(hash);
      remember(known, KNOWN_MAX, hash, { value, until });
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
