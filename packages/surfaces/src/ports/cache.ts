/**
 * Cached values of many tenants, which may disappear at any time.
 *
 * I1  No call sees or changes anything outside its `tenant` and `namespace`.
 * I2  An expired value is absent, from the exact millisecond on.
 * I3  Each tenant has a capacity in bytes. The least recently used values are evicted first, and no tenant
 *     evicts the values of another.
 * I4  As I3 of the kv port: a write is answered once per invocation.
 */
import type { Json } from '@gantry/protocol';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';

export interface CacheKey {
  readonly namespace: string;
  readonly key: string;
}

export interface CacheEntry {
  readonly value: Json;
  readonly storedAt: number;
  readonly expiresAt: number;
}

export interface CachePort {
  get(key: CacheKey, call: PortRead): Promise<CacheEntry | null>;
  put(entry: CacheKey & Omit<CacheEntry, 'storedAt'>, call: PortWrite): Promise<void>;
  /** Evicts one value, or without a key every value of the namespace; answers how many there were. */
  evict(
    which: { readonly namespace: string; readonly key: string | null },
    call: PortWrite,
  ): Promise<{ evicted: number }>;
}
