/** Objects that the host serves itself, with links to them, wherever they are kept. */
import type { MakeRoom } from '../../calls/content-room.ts';
import type { PortWrite } from '../../calls/surface-call.ts';
import {
  type BlobContent,
  type BlobEntry,
  type BlobPort,
  type BlobRange,
  type BlobTarget,
  OBJECT_BYTES_MAX,
  type TenantBlob,
} from '../../ports/blobs.ts';
import { objectPath, signLink } from './link.ts';
import {
  type LinkTarget,
  type PresignedAnswer,
  type PresignedRequest,
  servePresigned,
} from './serve-presigned.ts';

export interface LinkOptions {
  /** Signs links; the same after a restart, or links die with the process. */
  readonly key: Uint8Array;
  /** Where clients reach this host, without a slash at the end; asked each time, since a port may be chosen late. */
  readonly publicUrl: () => string | Promise<string>;
}

/** Where the objects are. I1 to I3 of the port hold. */
export interface ObjectStore extends Omit<LinkTarget, 'key'> {
  put(target: TenantBlob, content: BlobContent, call: PortWrite): Promise<{ sizeBytes: number }>;
  get(target: TenantBlob, makeRoom?: MakeRoom): Promise<BlobContent | null>;
  delete(target: TenantBlob, call: PortWrite): Promise<{ deleted: boolean }>;
  list(tenant: string, range: BlobRange): Promise<BlobEntry[]>;
  health(): Promise<void>;
  sweep(now: number): Promise<number>;
}

export interface HostedBlobs extends BlobPort {
  /** Answers a request to a link. Refuses with `OpenwopError`. */
  servePresigned(request: PresignedRequest): Promise<PresignedAnswer>;
}

const targetOf = ({ bucket, key }: BlobTarget, tenant: string): TenantBlob => ({ tenant, bucket, key });

export const hostedBlobs = (objects: ObjectStore, links: LinkOptions): HostedBlobs => ({
  journal: 'own',
  addressOf: async (target) => `${await links.publicUrl()}${objectPath(target)}`,
  put: ({ bytes, contentType, ...object }, call) =>
    objects.put(targetOf(object, call.tenant), { bytes, contentType }, call),
  get: (target, { tenant }, makeRoom) => objects.get(targetOf(target, tenant), makeRoom),
  delete: (target, call) => objects.delete(targetOf(target, call.tenant), call),
  list: (range, { tenant }) => objects.list(tenant, range),
  async presign({ method, seconds, ...target }, { tenant, now }) {
    const expiresAt = now + seconds * 1_000;
    const bytesMax = method === 'PUT' ? OBJECT_BYTES_MAX : 0;
    const link = signLink(links.key, { ...target, tenant, method, expiresAt, bytesMax });
    return `${await links.publicUrl()}${link}`;
  },
  health: () => objects.health(),
  sweep: (now) => objects.sweep(now),
  close: async () => {},
  servePresigned: (request) => servePresigned({ ...objects, key: links.key }, request),
});
