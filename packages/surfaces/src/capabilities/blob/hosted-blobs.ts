/** Objects that the host itself serves, wherever they are stored, with links to them. */
import type { Readable } from 'node:stream';
import { OpenwopError } from '@gantry/protocol';
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
import { objectPath, openLink, signLink } from './link.ts';
import { knownType } from './names.ts';

export interface LinkOptions {
  /** Signs links. Must be the same after a restart, otherwise links become invalid. */
  readonly key: Uint8Array;
  /**
   * The address of this host for clients, without a trailing slash. Called each time, since a port may be chosen late.
   */
  readonly publicUrl: () => string | Promise<string>;
}

/** The storage of objects. I1 to I3 of the port hold. */
export interface ObjectStore {
  put(target: TenantBlob, content: BlobContent, call: PortWrite): Promise<{ sizeBytes: number }>;
  get(target: TenantBlob, makeRoom?: MakeRoom): Promise<BlobContent | null>;
  delete(target: TenantBlob, call: PortWrite): Promise<{ deleted: boolean }>;
  list(tenant: string, range: BlobRange): Promise<BlobEntry[]>;
  health(): Promise<void>;
  sweep(now: number): Promise<number>;
  /** Used by links. Content is streamed and never in memory as a whole. Null if the object does not exist. */
  stream(target: TenantBlob): Promise<(Streamed<Readable> & { readonly sizeBytes: number }) | null>;
  upload(target: TenantBlob, content: Streamed<AsyncIterable<Uint8Array>>, now: number): Promise<unknown>;
}

interface Streamed<Body> {
  readonly body: Body;
  readonly contentType: string | null;
}

export interface PresignedRequest {
  readonly method: string;
  /** Path and query as received, not decoded. */
  readonly url: string;
  readonly contentType?: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly now: number;
}

export interface PresignedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The caller must read it to its end or destroy it. */
  readonly body: Readable | null;
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
  servePresigned: (request) => servePresigned(objects, links.key, request),
});

/**
 * Objects come from tenants and share their origin with the console: browsers must not run them or guess their type.
 */
export const INERT = {
  'content-disposition': 'attachment',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
} as const;

async function servePresigned(
  objects: ObjectStore,
  key: Uint8Array,
  request: PresignedRequest,
): Promise<PresignedAnswer> {
  const { method, bytesMax, ...link } = openLink(key, request);
  const blob = targetOf(link, link.tenant);
  if (method === 'PUT') {
    const contentType = knownType(request.contentType);
    await objects.upload(blob, { body: bounded(request.body, bytesMax), contentType }, request.now);
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: null };
  }
  const found = await objects.stream(blob);
  if (found === null) throw new OpenwopError('blob_object_not_found');
  return {
    status: 200,
    headers: {
      ...INERT,
      'content-type': found.contentType ?? 'application/octet-stream',
      'content-length': String(found.sizeBytes),
    },
    body: found.body,
  };
}

async function* bounded(body: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of whole(body)) {
    length += chunk.byteLength;
    if (length > bytesMax)
      throw new OpenwopError('blob_object_too_large', { details: { maxObjectBytes: bytesMax } });
    yield chunk;
  }
}

/** A client that disconnects is not a fault of this host. */
async function* whole(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new OpenwopError('validation_error', {
      message: 'The request ended before its body did. Send it again.',
      cause,
    });
  }
}
