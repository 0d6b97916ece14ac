/** Archives in an S3 bucket. They are spooled on local disk first, so the bucket has only complete ones. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { given } from '@gantry/protocol';
import { connectS3, type S3Address, type S3Connection } from '@gantry/store';
import { Spool, type SpoolFile, storageError } from './spool.ts';
import { type ArchiveStorage, integrityIn, nameOf, type StoredArchive } from './storage.ts';

interface S3StorageOptions extends S3Address {
  readonly spoolFolder: string;
  readonly now: () => number;
}

type Bucket = S3Connection & Pick<S3Address, 'bucket' | 'prefix'>;
type Ask = <T>(what: string, work: (bucket: Bucket) => Promise<T>) => Promise<T>;

export function openS3Storage(options: S3StorageOptions): ArchiveStorage {
  const spool = new Spool(options.spoolFolder);
  let opened: Promise<Bucket> | undefined;
  const ask: Ask = async (what, work) => {
    opened ??= connectS3(options).then((connection) => ({ ...connection, ...options }));
    try {
      return await work(await opened);
    } catch (error) {
      throw storageError(`Cannot ${what} in the archive bucket.`, error);
    }
  };
  return {
    async spool(source, bytesMax) {
      const file = await spool.write(source, bytesMax);
      return { ...file, keep: () => ask('store an archive', (bucket) => put(bucket, file)) };
    },
    get: (integrity) => ask('read an archive', (bucket) => get(bucket, integrity)),
    has: (integrity) => ask('say what it holds', (bucket) => has(bucket, integrity)),
    delete: (integrity) =>
      ask('delete an archive', async (bucket) => {
        await bucket.client.send(new bucket.sdk.DeleteObjectCommand(keyOf(bucket, integrity)));
      }),
    list: () => list(ask),
    start: () => spool.clear(options.now()),
    async stop() {
      if (opened !== undefined) (await opened).client.destroy();
    },
  };
}

const keyOf = ({ bucket, prefix }: Bucket, integrity: string) => ({
  Bucket: bucket,
  Key: `${prefix}${nameOf(integrity)}`,
});

async function put(bucket: Bucket, file: SpoolFile): Promise<void> {
  const command = new bucket.sdk.PutObjectCommand({
    ...keyOf(bucket, file.integrity),
    Body: createReadStream(file.path),
    ContentLength: file.bytes,
    ContentType: 'application/tar+gzip',
  });
  await bucket.client.send(command);
}

async function get(bucket: Bucket, integrity: string): Promise<Readable> {
  const { Body } = await bucket.client.send(new bucket.sdk.GetObjectCommand(keyOf(bucket, integrity)));
  if (!(Body instanceof Readable)) throw new Error('response without a body');
  return Body;
}

async function has(bucket: Bucket, integrity: string): Promise<boolean> {
  try {
    await bucket.client.send(new bucket.sdk.HeadObjectCommand(keyOf(bucket, integrity)));
    return true;
  } catch (error) {
    if (error instanceof bucket.sdk.S3ServiceException && error.$metadata.httpStatusCode === 404)
      return false;
    throw error;
  }
}

async function* list(ask: Ask): AsyncGenerator<StoredArchive> {
  for (let token: string | undefined; ; ) {
    const [page, prefix] = await ask('say what it holds', async ({ client, sdk, bucket, prefix }) => {
      const place = { Bucket: bucket, Prefix: prefix, ...given({ ContinuationToken: token }) };
      return [await client.send(new sdk.ListObjectsV2Command(place)), prefix] as const;
    });
    for (const { Key = '', LastModified } of page.Contents ?? []) {
      const integrity = integrityIn(Key.slice(prefix.length));
      if (integrity !== undefined && LastModified !== undefined)
        yield { integrity, storedAt: LastModified.getTime() };
    }
    token = page.NextContinuationToken;
    if (token === undefined) return;
  }
}
