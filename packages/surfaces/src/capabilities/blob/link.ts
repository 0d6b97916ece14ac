/** Signed links to objects. A link has exactly one byte representation; anything else is refused first. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isoTime, OpenwopError } from '@gantry/protocol';
import type { BlobTarget, LinkMethod } from '../../ports/blobs.ts';

/** Relative to the address of the host. */
export const LINK_ROOT = '/v1/host/gantry/blobs/';
const URL_CHARACTERS_MAX = 8_192;

export interface Link extends BlobTarget {
  readonly tenant: string;
  readonly method: LinkMethod;
  readonly expiresAt: number;
  readonly bytesMax: number;
}

/** Also encodes characters that `encodeURIComponent` leaves, so that clients and proxies do not change them. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

export const objectPath = ({ bucket, key }: BlobTarget): string =>
  `${LINK_ROOT}${[bucket, ...key.split('/')].map(encode).join('/')}`;

const unsigned = ({ tenant, method, expiresAt, bytesMax, ...target }: Link): string =>
  `${objectPath(target)}?tenant=${encode(tenant)}&method=${method}&expires=${expiresAt}&maxBytes=${bytesMax}`;

function signatureOf(
  key: Uint8Array,
  { tenant, bucket, key: name, method, expiresAt, bytesMax }: Link,
): string {
  const signed = ['gantry-blob-link-1', tenant, bucket, name, method, expiresAt, bytesMax];
  return createHmac('sha256', key).update(JSON.stringify(signed)).digest('base64url');
}

export const signLink = (key: Uint8Array, link: Link): string =>
  `${unsigned(link)}&signature=${signatureOf(key, link)}`;

/** Throws `forbidden` if this host did not sign the link, and `blob_presign_expired` if it has expired. */
export function openLink(
  key: Uint8Array,
  request: { readonly method: string; readonly url: string; readonly now: number },
): Link {
  const { link, signature } = parse(request.url) ?? refuse();
  const [theirs, ours] = [Buffer.from(signature), Buffer.from(signatureOf(key, link))];
  if (theirs.length !== ours.length || !timingSafeEqual(theirs, ours)) return refuse();
  if (request.method !== link.method)
    return refuse(`This link is for ${link.method}, not for ${request.method}.`);
  if (request.now >= link.expiresAt)
    throw new OpenwopError('blob_presign_expired', {
      details: { expiredAt: isoTime(link.expiresAt) },
    });
  return link;
}

function refuse(
  message = 'The signature of this link is not valid. Use the link exactly as it was given.',
): never {
  throw new OpenwopError('forbidden', { message });
}

function parse(url: string): { link: Link; signature: string } | null {
  if (url.length > URL_CHARACTERS_MAX || !url.startsWith(LINK_ROOT)) return null;
  const [path = '', query = ''] = url.slice(LINK_ROOT.length).split('?', 2);
  const fields = new URLSearchParams(query);
  const signature = fields.get('signature') ?? '';
  const method = fields.get('method');
  if (method !== 'GET' && method !== 'PUT') return null;
  const [bucket = '', ...names] = path.split('/').map(decode);
  const link: Link = {
    tenant: fields.get('tenant') ?? '',
    bucket,
    key: names.join('/'),
    method,
    expiresAt: Number(fields.get('expires')),
    bytesMax: Number(fields.get('maxBytes')),
  };
  return `${unsigned(link)}&signature=${signature}` === url ? { link, signature } : null;
}

/** Text that cannot be decoded never equals a valid spelling. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
