/**
 * Objects of many tenants in named buckets.
 *
 * I1  No call sees or changes anything outside its `tenant` and `bucket`.
 * I2  An object is whole or absent: a read sees one put, never a mixture or a part.
 * I3  A put or delete is durable when it is answered. With `journal: 'own'` a repeated invocation gets the
 *     first answer and changes nothing, and a call of another method with its id is refused with
 *     `idempotency_key_mismatch`.
 * I4  A link is valid for one method on one object until it expires, and for nothing else.
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
  /** The address of the object; access requires a link. */
  addressOf(target: BlobTarget, tenant: string): Promise<string>;
  /** Refuses with `blob_quota_exhausted`. */
  put(object: BlobTarget & BlobContent, call: PortWrite): Promise<{ sizeBytes: number }>;
  /** Null when absent. Refuses too large objects (`blob_object_too_large`). Calls `makeRoom` once the size is known. */
  get(target: BlobTarget, call: PortRead, makeRoom?: MakeRoom): Promise<BlobContent | null>;
  delete(target: BlobTarget, call: PortWrite): Promise<{ deleted: boolean }>;
  /** In the order of the UTF-8 bytes of the keys. */
  list(range: BlobRange, call: PortRead): Promise<BlobEntry[]>;
  /** Does not check whether the object exists. */
  presign(
    link: BlobTarget & { readonly method: LinkMethod; readonly seconds: number },
    call: PortRead,
  ): Promise<string>;
  /** Rejects with `storage_unavailable`. */
  health(): Promise<void>;
  /** Removes unreachable content; answers the number of removed items. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}

/** Limited by the size of one message between the host and pack code. */
export const OBJECT_BYTES_MAX = 32 * 1_048_576;
/** Counted for each object in addition to its content. Triggers of the embedded database use the same number. */
export const OBJECT_OVERHEAD_BYTES = 1_024;
export const KEY_BYTES_MAX = 512;
export const LINK_SECONDS_MAX = 604_800;
