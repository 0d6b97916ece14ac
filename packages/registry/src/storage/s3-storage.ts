/** Archives in an S3 bucket. They are spooled on local disk first, so the bucket has only complete ones. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { connectS3, type S3Address, type S3Connection } from '@gantry/store';
import { Spool, type SpoolFile, storageError } from './spool.ts';
import { type ArchiveStorage, integrityIn, nameOf, type StoredArchive } from './storage.ts';

interface S3StorageOptions extends S3Address {
  readonly spoolFolder: string;
  readonly now: () => number;
}

type Bucket = S3Connection & Pick<S3Address, 'bucket' | 'prefix'>;

export function openS3Storage(options: S3StorageOptions): ArchiveStorage {
  const spool = new Spool(options.spoolFolder);
  let opened: Promise<Bucket> | undefined;
  const bucket = (): Promise<Bucket> => {
    opened ??= connectS3(options).then((connection) => ({ ...connection, ...options }));
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

type Open = () => Promise<Bucket>;

async function asked<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(`Cannot ${what} in the archive bucket.`, error);
  }
}

const keyOf = ({ bucket, prefix }: Bucket, integrity: string) => ({
  Bucket: bucket,
  Key: `${prefix}${nameOf(integrity)}`,
});

function put(open: Open, file: SpoolFile): Promise<void> {
  return asked('store an archive', async () => {
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
  return asked('read an archive', async () => {
    const bucket = await open();
    const { Body } = await bucket.client.send(new bucket.sdk.GetObjectCommand(keyOf(bucket, integrity)));
    if (!(Body instanceof Readable)) throw new Error('response without a body');
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
