/**
 * Objects in an S3 bucket, as `<prefix><tenant>/<bucket>/<key>`; the tenant is a digest. A put is idempotent
 * unless another put came in between, so the host keeps the journal and repeats interrupted calls.
 */
import { connectS3, type S3Address } from '@gantry/store';
import type { BlobEntry, BlobPort, BlobRange } from '../ports/blobs.ts';
import {
  ATTEMPTS_MAX,
  abortedLate,
  callMs,
  contentMs,
  folderOf,
  type Named,
  NO_TYPE,
  nameOf,
  S3_TIMES,
  type S3Bucket,
  type S3Times,
  urlOf,
} from './bucket.ts';
import { asked, isMissing } from './errors.ts';
import { checkSize, readObject } from './read.ts';

/** `times` is for tests. Default: `S3_TIMES`. */
export async function openS3Blobs(address: S3Address, times: S3Times = S3_TIMES): Promise<BlobPort> {
  const { sdk, client } = await connectS3(address, {
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: times.connectMs,
      requestTimeout: times.answerMs,
      socketTimeout: times.silenceMs,
      throwOnRequestTimeout: true,
    },
  });
  const s3: S3Bucket = { sdk, client, address, times };
  const ask = <T>(work: (signal: AbortSignal) => Promise<T>, bytes = 0): Promise<T> =>
    asked(address, () => abortedLate(callMs(times, bytes), work));
  return {
    journal: 'host',
    addressOf: async (target, tenant) => urlOf(address, nameOf(address, target, tenant).Key),
    put: ({ bytes, contentType, ...target }, { tenant }) =>
      ask(async (abortSignal) => {
        const type =
          contentType === null
            ? { Metadata: { [NO_TYPE.name]: NO_TYPE.value } }
            : { ContentType: contentType };
        const command = new sdk.PutObjectCommand({
          ...nameOf(address, target, tenant),
          Body: bytes,
          ...type,
        });
        // The answer comes after the server has received all of it
        await client.send(command, { abortSignal, requestTimeout: contentMs(times, bytes.byteLength) });
        return { sizeBytes: bytes.byteLength };
      }, bytes.byteLength),
    get: (target, { tenant }, makeRoom) =>
      asked(address, () => readObject(s3, nameOf(address, target, tenant), makeRoom)),
    delete: (target, { tenant }) => ask((signal) => remove(s3, nameOf(address, target, tenant), signal)),
    list: (range, { tenant }) =>
      ask((signal) => list(s3, folderOf(address, tenant, range.bucket), range, signal)),
    presign: ({ method, seconds, ...target }, { tenant, now }) =>
      ask(async (signal) => {
        const at = nameOf(address, target, tenant);
        const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
        const when = { expiresIn: seconds, signingDate: new Date(now) };
        if (method === 'PUT') return getSignedUrl(client, new sdk.PutObjectCommand(at), when);
        const size = await sizeOf(s3, at, signal);
        if (size !== null) checkSize(size);
        return getSignedUrl(client, new sdk.GetObjectCommand(at), when);
      }),
    health: () =>
      ask(async (abortSignal) => {
        await client.send(new sdk.HeadBucketCommand({ Bucket: address.bucket }), { abortSignal });
      }),
    sweep: async () => 0,
    close: async () => client.destroy(),
  };
}

/** Null if the object does not exist. */
async function sizeOf(
  { sdk, client }: S3Bucket,
  at: Named,
  abortSignal: AbortSignal,
): Promise<number | null> {
  try {
    const { ContentLength = 0 } = await client.send(new sdk.HeadObjectCommand(at), { abortSignal });
    return ContentLength;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function remove(s3: S3Bucket, at: Named, abortSignal: AbortSignal): Promise<{ deleted: boolean }> {
  if ((await sizeOf(s3, at, abortSignal)) === null) return { deleted: false };
  await s3.client.send(new s3.sdk.DeleteObjectCommand(at), { abortSignal });
  return { deleted: true };
}

/** S3 lists 1,000 at a time. Objects that are too large to read are listed too, so that they can be deleted. */
async function list(
  { sdk, client, address }: S3Bucket,
  folder: string,
  { prefix, after, limit }: BlobRange,
  abortSignal: AbortSignal,
): Promise<BlobEntry[]> {
  const entries: BlobEntry[] = [];
  for (let last = after; entries.length < limit; ) {
    const command = new sdk.ListObjectsV2Command({
      Bucket: address.bucket,
      Prefix: `${folder}${prefix}`,
      MaxKeys: limit - entries.length,
      ...(last !== null && { StartAfter: `${folder}${last}` }),
    });
    const { Contents = [], IsTruncated } = await client.send(command, { abortSignal });
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
