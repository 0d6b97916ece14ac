/**
 * Keys and values of many tenants.
 *
 * I1  No call sees or changes anything outside its `tenant` and `namespace`.
 * I2  An expired entry is absent, from the exact millisecond on.
 * I3  A write is on disk when it is answered. A repeated invocation gets the first answer and changes nothing;
 *     a call of another method with its id is refused with `idempotency_key_mismatch`. A refused write has no effect.
 * I4  Every write is atomic.
 */
import type { Json } from '@gantry/protocol';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';

export interface KvKey {
  readonly namespace: string;
  readonly key: string;
}

export interface KvEntry {
  readonly value: Json;
  /** Milliseconds; null if it does not expire. */
  readonly expiresAt: number | null;
}

export interface KvRange {
  readonly namespace: string;
  readonly prefix: string;
  readonly after: string | null;
  readonly limit: number;
}

export interface KvPort {
  get(key: KvKey, call: PortRead): Promise<KvEntry | null>;
  /** Keys in the order of their UTF-8 bytes. */
  list(range: KvRange, call: PortRead): Promise<string[]>;
  /** Refuses with `kv_quota_exhausted`. */
  put(entry: KvKey & KvEntry, call: PortWrite): Promise<{ replaced: boolean }>;
  delete(key: KvKey, call: PortWrite): Promise<{ deleted: boolean }>;
  /** Starts at 0 if absent; keeps the time to live. Refuses with `validation_error` if not a number or not exact. */
  increment(step: KvKey & { readonly delta: number }, call: PortWrite): Promise<KvIncrement>;
  /** Compares as JSON; an expected null also matches a missing entry. Keeps the time to live. */
  compareAndSwap(swap: KvKey & KvSwap, call: PortWrite): Promise<KvSwapped>;
}

export interface KvIncrement {
  readonly value: number;
  readonly previous: number;
}

export interface KvSwap {
  readonly expected: Json;
  readonly value: Json;
}

export interface KvSwapped {
  readonly swapped: boolean;
  /** The current value if nothing was swapped: null if there is no entry, absent if the value is large. */
  readonly actual?: Json;
}

/** Journaled answers are not part of the quota; a large value would be stored with every failed swap. */
export const KV_ACTUAL_BYTES_MAX = 4_096;
