/**
 * Keys and values of many tenants.
 *
 * I1  Nothing is ever seen or changed beyond `tenant` and `namespace`.
 * I2  An entry whose time is over is not there, from that very millisecond on.
 * I3  A write is on the disk when it is answered. The same invocation again gets the first answer and changes
 *     nothing; a call of another method with its id is refused with `idempotency_key_mismatch`. A refused write leaves no trace.
 * I4  Every write is atomic beside all others.
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
  /** From 0 if absent; keeps the time to live. Refuses with `validation_error` what is no number or cannot be exact. */
  increment(step: KvKey & { readonly delta: number }, call: PortWrite): Promise<KvIncrement>;
  /** Compares as JSON; an expected null also stands for no entry. Keeps the time to live. */
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
  /** What is there when nothing was swapped: null when nothing is, absent when it is large. */
  readonly actual?: Json;
}

/** Answers are kept in the journal, beside the quota; a large one would be kept with every failed swap. */
export const KV_ACTUAL_BYTES_MAX = 4_096;
