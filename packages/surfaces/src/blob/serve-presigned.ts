/** What happens at the other end of a link. */
import { OpenwopError } from '@gantry/protocol';
import type { PlacedBlob } from '../embedded/blobs.ts';
import type { BlobContent, BlobPlace } from '../ports/blobs.ts';
import { openLink } from './link.ts';
import { contentTypeOf } from './names.ts';

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
  readonly body: Uint8Array;
}

export interface LinkTarget {
  readonly key: Uint8Array;
  get(place: BlobPlace, call: { readonly tenant: string; readonly now: number }): Promise<BlobContent | null>;
  upload(place: PlacedBlob, content: BlobContent, now: number): Promise<void>;
}

/** Objects come from tenants and share their origin with the console: no browser may run or guess them. */
const INERT = {
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
  const place = { tenant: link.tenant, bucket: link.bucket, key: link.key };
  if (link.method === 'PUT') {
    const contentType = contentTypeOf(request.contentType);
    const bytes = await collect(request.body, link.bytesMax);
    await target.upload(place, { bytes, contentType }, request.now);
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: new Uint8Array() };
  }
  const found = await target.get(place, { tenant: link.tenant, now: request.now });
  if (found === null) throw new OpenwopError('blob_object_not_found');
  return {
    status: 200,
    headers: {
      ...INERT,
      'content-type': found.contentType ?? 'application/octet-stream',
      'content-length': String(found.bytes.byteLength),
    },
    body: found.bytes,
  };
}

async function collect(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > bytesMax)
      throw new OpenwopError('blob_object_too_large', { details: { maxObjectBytes: bytesMax } });
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks, length));
}
