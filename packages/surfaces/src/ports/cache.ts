/**
 * Values that may be gone at any time, for many tenants.
 *
 * I1  Nothing is ever seen or changed beyond `tenant` and `namespace`.
 * I2  A value whose time is over is not there, from that very millisecond on.
 * I3  Each tenant has room for so many bytes; what was used longest ago leaves first, and no tenant displaces
 *     the values of another.
 * I4  As I3 of the kv port: a write is answered once for each invocation.
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
  /** One value, or without a key every value of the namespace; answers how many there were. */
  evict(
    which: { readonly namespace: string; readonly key: string | null },
    call: PortWrite,
  ): Promise<{ evicted: number }>;
}
