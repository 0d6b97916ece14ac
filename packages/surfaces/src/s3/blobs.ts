/**
 * Objects in a bucket of a server that speaks S3.
 *
 * Keys there are `<prefix><tenant>/<bucket>/<key>`; the tenant is a digest of fixed length, so no name of one can
 * reach into another's. A put replaces an object as a whole, so doing it twice is doing it once: the host keeps the
 * journal.
 */
import { hash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { OpenwopError } from '@gantry/protocol';
import {
  type BlobContent,
  type BlobEntry,
  type BlobPlace,
  type BlobPort,
  type BlobRange,
  OBJECT_BYTES_MAX,
} from '../ports/blobs.ts';
import { connectS3, type S3Address } from './connect.ts';
import { asked, isMissing } from './errors.ts';

export interface S3Bucket {
  readonly client: S3Client;
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly address: S3Address;
}

interface Named {
  readonly Bucket: string;
  readonly Key: string;
}

export async function openS3Blobs(address: S3Address): Promise<BlobPort> {
  const { sdk, client } = await connectS3(address);
  const s3: S3Bucket = { sdk, client, address };
  const named = (place: BlobPlace, tenant: string): Named => ({
    Bucket: address.bucket,
    Key: `${folderOf(address, tenant, place.bucket)}${place.key}`,
  });
  const ask = <T>(work: () => Promise<T>): Promise<T> => asked(address, work);
  return {
    ...{ journal: 'host', canPresign: true },
    addressOf: (place, tenant) => addressOf(address, named(place, tenant).Key),
    put: ({ bytes, contentType, ...place }, { tenant }) =>
      ask(async () => {
        const content = { Body: bytes, ...(contentType !== null && { ContentType: contentType }) };
        await client.send(new sdk.PutObjectCommand({ ...named(place, tenant), ...content }));
        return { sizeBytes: bytes.byteLength };
      }),
    get: (place, { tenant }) => ask(() => whole(() => get(s3, named(place, tenant)))),
    delete: (place, { tenant }) => ask(() => remove(s3, named(place, tenant))),
    list: (range, { tenant }) => ask(() => list(s3, folderOf(address, tenant, range.bucket), range)),
    presign: ({ method, seconds, ...place }, { tenant, now }) =>
      ask(async () => {
        const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
        const at = named(place, tenant);
        const command = method === 'GET' ? new sdk.GetObjectCommand(at) : new sdk.PutObjectCommand(at);
        return getSignedUrl(client, command, { expiresIn: seconds, signingDate: new Date(now) });
      }),
    health: () =>
      ask(async () => void (await client.send(new sdk.HeadBucketCommand({ Bucket: address.bucket })))),
    sweep: async () => 0,
    close: async () => client.destroy(),
  };
}

const TENANT_CHARACTERS = 32;

const folderOf = ({ prefix }: S3Address, tenant: string, bucket: string): string =>
  `${prefix}${hash('sha256', tenant, 'hex').slice(0, TENANT_CHARACTERS)}/${bucket}/`;

function addressOf({ bucket, endpoint }: S3Address, key: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/');
  return endpoint === undefined
    ? `https://${bucket}.s3.amazonaws.com/${path}`
    : `${endpoint}/${bucket}/${path}`;
}

const READS_MAX = 3;

/** The client repeats requests, but not bodies that broke off, as when the object is replaced meanwhile. */
async function whole<T>(read: () => Promise<T>): Promise<T> {
  for (let reads = 1; ; reads++) {
    try {
      return await read();
    } catch (error) {
      const brokeOff = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
      if (!brokeOff || reads === READS_MAX) throw error;
    }
  }
}

async function get({ sdk, client }: S3Bucket, at: Named): Promise<BlobContent | null> {
  try {
    const { Body, ContentLength, ContentType } = await client.send(new sdk.GetObjectCommand(at));
    if (Body === undefined) throw new Error('S3 answered without a body');
    // Links let clients put by themselves, and S3 bounds no link
    if (ContentLength === undefined || ContentLength > OBJECT_BYTES_MAX) {
      await Body.transformToWebStream().cancel();
      throw new OpenwopError('blob_object_too_large', { details: { maxObjectBytes: OBJECT_BYTES_MAX } });
    }
    return { bytes: await Body.transformToByteArray(), contentType: ContentType ?? null };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function remove({ sdk, client }: S3Bucket, at: Named): Promise<{ deleted: boolean }> {
  try {
    await client.send(new sdk.HeadObjectCommand(at));
  } catch (error) {
    if (isMissing(error)) return { deleted: false };
    throw error;
  }
  await client.send(new sdk.DeleteObjectCommand(at));
  return { deleted: true };
}

/** S3 gives a thousand at a time, which is less than a page and one more. */
async function list(
  { sdk, client, address }: S3Bucket,
  folder: string,
  { prefix, after, limit }: BlobRange,
): Promise<BlobEntry[]> {
  const entries: BlobEntry[] = [];
  for (let last = after; entries.length < limit; ) {
    const { Contents = [], IsTruncated } = await client.send(
      new sdk.ListObjectsV2Command({
        ...{ Bucket: address.bucket, Prefix: `${folder}${prefix}`, MaxKeys: limit - entries.length },
        ...(last !== null && { StartAfter: `${folder}${last}` }),
      }),
    );
    const found = Contents.map(({ Key = '', Size = 0 }) => ({
      key: Key.slice(folder.length),
      sizeBytes: Size,
    }));
    entries.push(...found);
    last = found.at(-1)?.key ?? null;
    if (IsTruncated !== true || last === null) break;
  }
  return entries;
}
