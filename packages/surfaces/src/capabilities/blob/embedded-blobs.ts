/** Objects in the data folder: content in files, metadata in the embedded database. */

import { join } from 'node:path';
import { OpenwopError } from '@gantry/protocol';
import type { TenantBlob } from '../../ports/blobs.ts';
import { bytesFor, type QuotaOf } from '../../quotas.ts';
import type { NamedBlob, StoredBlob } from '../../sqlite/blobs.ts';
import type { EmbeddedDatabase } from '../../sqlite/database.ts';
import { ContentFiles } from './content-files.ts';
import { type HostedBlobs, hostedBlobs, type LinkOptions } from './hosted-blobs.ts';

export interface EmbeddedBlobsOptions {
  readonly database: EmbeddedDatabase;
  readonly dataDir: string;
  /** Per tenant. */
  readonly quotaBytes: number | QuotaOf;
  readonly links: LinkOptions;
}

/** Replaced content is removed at once; leftovers of a crash are removed after this time. */
const GARBAGE_MS = 600_000;
const GARBAGE_BATCH = 200;

export async function openEmbeddedBlobs(options: EmbeddedBlobsOptions): Promise<HostedBlobs> {
  const { database, quotaBytes, links } = options;
  const files = new ContentFiles(join(options.dataDir, 'blobs'));
  await files.open((file) => database.read('blobs', 'isNamed', file));
  const objects = new StoredObjects(database, files);
  return hostedBlobs(
    {
      put: (target, { bytes, contentType }, call) =>
        objects.store(bytes, contentType, (blob) =>
          database.write('blobs', 'put', call, target, blob, call.now, bytesFor(quotaBytes, target.tenant)),
        ),
      async get(target, makeRoom) {
        const object = await objects.find(target, async ({ file, bytes }) => {
          await makeRoom?.(bytes);
          return files.read(file);
        });
        return object && { bytes: object.content, contentType: object.blob.contentType };
      },
      async delete(target, call) {
        const file = await database.write('blobs', 'delete', call, target, call.now);
        if (file !== null) await objects.discard(file);
        return { deleted: file !== null };
      },
      list: (tenant, range) => database.read('blobs', 'list', tenant, range),
      health: async () => void (await database.read('blobs', 'isNamed', '')),
      sweep: (now) => objects.sweep(now),
      async stream(target) {
        const object = await objects.find(target, ({ file }) => files.find(file));
        if (object === null) return null;
        const { content, blob } = object;
        return { body: content.createReadStream(), sizeBytes: blob.bytes, contentType: blob.contentType };
      },
      upload: (target, { body, contentType }, now) =>
        objects.store(body, contentType, (blob) =>
          database.upkeep('blobs', 'put', target, blob, now, bytesFor(quotaBytes, target.tenant)),
        ),
    },
    links,
  );
}

/** Rows in the database, and the files that hold their content. */
class StoredObjects {
  readonly #database: EmbeddedDatabase;
  readonly #files: ContentFiles;

  constructor(database: EmbeddedDatabase, files: ContentFiles) {
    this.#database = database;
    this.#files = files;
  }

  /** `name` answers the file of the object: another one if the call is already recorded. */
  async store(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    contentType: string | null,
    name: (blob: StoredBlob) => Promise<NamedBlob>,
  ): Promise<{ sizeBytes: number }> {
    const { file, bytes } = await this.#files.add(content).catch(unavailable);
    try {
      const named = await name({ file, bytes, contentType });
      if (named.file === file) await this.#files.settle(file).catch(unavailable);
      else await this.#files.remove(file);
      if (named.replaced !== undefined) await this.discard(named.replaced);
      return { sizeBytes: named.bytes };
    } catch (error) {
      // The database may have committed the row although its answer was lost: the next start decides
      const isInDoubt = error instanceof OpenwopError && error.code === 'storage_unavailable';
      if (!isInDoubt) await this.#files.remove(file);
      throw error;
    }
  }

  /** The garbage row stays for the sweep, which retries if the file cannot be removed now. */
  discard(file: string): Promise<void> {
    return this.#files.remove(file).catch(() => {});
  }

  /** A put may replace the file after its row was read; then there is a newer row. */
  async find<T>(target: TenantBlob, contentOf: (blob: StoredBlob) => Promise<T | null>) {
    for (let last = ''; ; ) {
      const blob = await this.#database.read('blobs', 'get', target);
      if (blob === null) return null;
      const content = await contentOf(blob).catch(unavailable);
      if (content !== null) return { content, blob };
      if (blob.file === last) throw new Error(`The content ${blob.file} of an object is missing`);
      last = blob.file;
    }
  }

  async sweep(now: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const garbage = await this.#database.read('blobs', 'garbage', now - GARBAGE_MS, GARBAGE_BATCH);
      for (const file of garbage) await this.#files.remove(file);
      if (garbage.length > 0) await this.#database.upkeep('blobs', 'forget', garbage);
      removed += garbage.length;
      if (garbage.length < GARBAGE_BATCH) return removed;
    }
  }
}

function unavailable(cause: unknown): never {
  if (cause instanceof OpenwopError) throw cause;
  throw new OpenwopError('storage_unavailable', {
    message: 'The folder of the objects is not available. Try again later; the operator must check the disk.',
    cause,
  });
}
