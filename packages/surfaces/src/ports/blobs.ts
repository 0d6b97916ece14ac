/**
 * Objects of many tenants in named buckets.
 *
 * I1  Nothing is ever seen or changed beyond `tenant` and `bucket`.
 * I2  An object is whole or absent: a read sees one put, never a mixture or a part.
 * I3  A put or delete is durable when it is answered. With `journal: 'own'` the same invocation again gets the first
 *     answer and changes nothing, and a call of another method with its id is refused with `idempotency_key_mismatch`.
 * I4  A link is good for one method on one object until its time, and for nothing else.
 */
import type { MakeRoom } from '../calls/content-room.ts';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';

export interface BlobTarget {
  readonly bucket: string;
  readonly key: string;
}

export interface TenantBlob extends BlobTarget {
  readonly tenant: string;
}

export interface BlobContent {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
}

export interface BlobEntry {
  readonly key: string;
  readonly sizeBytes: number;
}

export interface BlobRange {
  readonly bucket: string;
  readonly prefix: string;
  readonly after: string | null;
  readonly limit: number;
}

export type LinkMethod = 'GET' | 'PUT';

export interface BlobPort {
  readonly journal: 'own' | 'host';
  /** Where the object is; it takes a link to get there. */
  addressOf(target: BlobTarget, tenant: string): Promise<string>;
  /** Refuses with `blob_quota_exhausted`. */
  put(object: BlobTarget & BlobContent, call: PortWrite): Promise<{ sizeBytes: number }>;
  /** Null when absent. Refuses what is too large (`blob_object_too_large`). Asks for room once it knows the size. */
  get(target: BlobTarget, call: PortRead, makeRoom?: MakeRoom): Promise<BlobContent | null>;
  delete(target: BlobTarget, call: PortWrite): Promise<{ deleted: boolean }>;
  /** In the order of the UTF-8 bytes of their keys. */
  list(range: BlobRange, call: PortRead): Promise<BlobEntry[]>;
  /** Whether the object exists is not looked at. */
  presign(
    link: BlobTarget & { readonly method: LinkMethod; readonly seconds: number },
    call: PortRead,
  ): Promise<string>;
  /** Rejects with `storage_unavailable`. */
  health(): Promise<void>;
  /** Removes unreachable content; answers how much it was. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}

/** What fits into one message between the host and pack code. */
export const OBJECT_BYTES_MAX = 32 * 1_048_576;
/** What an object counts beside its content. Triggers of the embedded database have the same number. */
export const OBJECT_OVERHEAD_BYTES = 1_024;
export const KEY_BYTES_MAX = 512;
export const LINK_SECONDS_MAX = 604_800;
