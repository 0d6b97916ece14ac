/** Archives in a bucket. They are spooled on this machine first: nothing half-sent is ever in the bucket. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { Spool, type SpoolFile, storageError } from './spool.ts';
import { type ArchiveStorage, integrityIn, nameOf, type StoredArchive } from './storage.ts';

interface S3StorageOptions {
  readonly bucket: string;
  /** Ends with a slash unless it is empty. */
  readonly prefix: string;
  /** A server that speaks S3; else Amazon's, by the usual names in the environment. */
  readonly endpoint?: string;
  readonly spoolFolder: string;
  readonly now: () => number;
}

interface Bucket {
  readonly client: S3Client;
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly bucket: string;
  readonly prefix: string;
}

export function openS3Storage(options: S3StorageOptions): ArchiveStorage {
  const spool = new Spool(options.spoolFolder);
  let opened: Promise<Bucket> | undefined;
  const bucket = (): Promise<Bucket> => {
    opened ??= connect(options);
    return opened;
  };
  return {
    async spool(source, bytesMax) {
      const file = await spool.write(source, bytesMax);
      return { ...file, keep: () => put(bucket, file) };
    },
    get: (integrity) => get(bucket, integrity),
    has: (integrity) => has(bucket, integrity),
    delete: (integrity) => remove(bucket, integrity),
    list: () => list(bucket),
    start: () => spool.clear(options.now()),
    async stop() {
      if (opened !== undefined) (await opened).client.destroy();
    },
  };
}

/** Loaded when first needed: whoever keeps archives in a folder pays nothing for it. */
async function connect({ bucket, prefix, endpoint }: S3StorageOptions): Promise<Bucket> {
  const sdk = await import('@aws-sdk/client-s3');
  // Other servers know neither names of buckets as host names nor the trailing checksums of newer clients.
  const custom: S3ClientConfig =
    endpoint === undefined
      ? {}
      : { endpoint, forcePathStyle: true, region: process.env.AWS_REGION ?? 'us-east-1' };
  const client = new sdk.S3Client({
    ...custom,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { client, sdk, bucket, prefix };
}

type Open = () => Promise<Bucket>;

async function asked<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(`The bucket of archives does not ${what}.`, error);
  }
}

const keyOf = ({ bucket, prefix }: Bucket, integrity: string) => ({
  Bucket: bucket,
  Key: `${prefix}${nameOf(integrity)}`,
});

function put(open: Open, file: SpoolFile): Promise<void> {
  return asked('take an archive', async () => {
    const bucket = await open();
    const command = new bucket.sdk.PutObjectCommand({
      ...keyOf(bucket, file.integrity),
      Body: createReadStream(file.path),
      ContentLength: file.bytes,
      ContentType: 'application/tar+gzip',
    });
    await bucket.client.send(command);
  });
}

function get(open: Open, integrity: string): Promise<Readable> {
  return asked('give an archive', async () => {
    const bucket = await open();
    const { Body } = await bucket.client.send(new bucket.sdk.GetObjectCommand(keyOf(bucket, integrity)));
    if (!(Body instanceof Readable)) throw new Error('an answer without a body');
    return Body;
  });
}

function has(open: Open, integrity: string): Promise<boolean> {
  return asked('say what it holds', async () => {
    const bucket = await open();
    try {
      await bucket.client.send(new bucket.sdk.HeadObjectCommand(keyOf(bucket, integrity)));
      return true;
    } catch (error) {
      if (error instanceof bucket.sdk.S3ServiceException && error.$metadata.httpStatusCode === 404)
        return false;
      throw error;
    }
  });
}

function remove(open: Open, integrity: string): Promise<void> {
  return asked('delete an archive', async () => {
    const bucket = await open();
    await bucket.client.send(new bucket.sdk.DeleteObjectCommand(keyOf(bucket, integrity)));
  });
}

async function* list(open: Open): AsyncGenerator<StoredArchive> {
  const bucket = await open();
  for (let token: string | undefined; ; ) {
    const command = new bucket.sdk.ListObjectsV2Command({
      Bucket: bucket.bucket,
      Prefix: bucket.prefix,
      ...(token !== undefined && { ContinuationToken: token }),
    });
    const page = await asked('say what it holds', () => bucket.client.send(command));
    for (const { Key = '', LastModified } of page.Contents ?? []) {
      const integrity = integrityIn(Key.slice(bucket.prefix.length));
      if (integrity !== undefined && LastModified !== undefined)
        yield { integrity, storedAt: LastModified.getTime() };
    }
    token = page.NextContinuationToken;
    if (token === undefined) return;
  }
}
