/** What happens at the other end of a link. Content passes through; it is never in memory as a whole. */
import type { Readable } from 'node:stream';
import { OpenwopError } from '@gantry/protocol';
import type { TenantBlob } from '../../ports/blobs.ts';
import { openLink } from './link.ts';
import { knownType } from './names.ts';

export interface PresignedRequest {
  readonly method: string;
  /** Path and query as they came, not decoded. */
  readonly url: string;
  readonly contentType?: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly now: number;
}

export interface PresignedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** To be read to its end or destroyed. */
  readonly body: Readable | null;
}

export interface StreamedBlob {
  readonly body: Readable;
  readonly sizeBytes: number;
  readonly contentType: string | null;
}

export interface IncomingBlob {
  readonly body: AsyncIterable<Uint8Array>;
  readonly contentType: string | null;
}

export interface LinkTarget {
  readonly key: Uint8Array;
  /** Null when there is none. */
  stream(blob: TenantBlob): Promise<StreamedBlob | null>;
  upload(blob: TenantBlob, content: IncomingBlob, now: number): Promise<unknown>;
}

/** Objects come from tenants and share their origin with the console: no browser may run or guess them. */
export const INERT = {
  'content-disposition': 'attachment',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
} as const;

export async function servePresigned(
  target: LinkTarget,
  request: PresignedRequest,
): Promise<PresignedAnswer> {
  const link = openLink(target.key, request);
  const blob = { tenant: link.tenant, bucket: link.bucket, key: link.key };
  if (link.method === 'PUT') {
    const contentType = knownType(request.contentType);
    await target.upload(blob, { body: bounded(request.body, link.bytesMax), contentType }, request.now);
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: null };
  }
  const found = await target.stream(blob);
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

/** A client that goes away is no fault of this host. */
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
