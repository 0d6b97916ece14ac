/** What every place for archives must do. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { integrityOf } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { StoreError } from '@gantry/store';
import type { ArchiveStorage, StoredArchive } from '../storage/storage.ts';
import { sweepArchives, UNNAMED_AGE_MS } from '../storage/storage.ts';

interface StorageUnderTest {
  readonly storage: ArchiveStorage;
  /** Names of temporary files. */
  spooled(): Promise<string[]>;
}

async function* streamOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

const MAX = 10 * 1024 * 1024;

async function all(storage: ArchiveStorage): Promise<StoredArchive[]> {
  const found: StoredArchive[] = [];
  for await (const archive of storage.list()) found.push(archive);
  return found;
}

async function put(storage: ArchiveStorage, bytes: Uint8Array): Promise<string> {
  const spooled = await storage.spool(streamOf(bytes), MAX);
  await spooled.keep();
  await spooled.discard();
  return spooled.integrity;
}

export function storageContract(name: string, open: (t: TestContext) => Promise<StorageUnderTest>): void {
  describe(`${name}: archives`, () => {
    test('what is kept is read back by its hash', async (t) => {
      const { storage, spooled } = await open(t);
      const chunks = [randomBytes(70_000), new Uint8Array(), randomBytes(3)];
      const whole = Buffer.concat(chunks);
      const archive = await storage.spool(streamOf(...chunks), MAX);
      assert.equal(archive.integrity, integrityOf(whole));
      assert.equal(archive.bytes, whole.length);
      assert.deepEqual(await buffer(archive.read()), whole);
      assert.equal(await storage.has(archive.integrity), false, 'not before it is kept');
      await archive.keep();
      await archive.discard();
      assert.deepEqual(await buffer(await storage.get(archive.integrity)), whole);
      assert.equal(await storage.has(archive.integrity), true);
      assert.deepEqual(await spooled(), []);
    });

    test('what is discarded leaves nothing', async (t) => {
      const { storage, spooled } = await open(t);
      const archive = await storage.spool(streamOf(randomBytes(10)), MAX);
      assert.equal((await spooled()).length, 1);
      await archive.discard();
      await archive.discard();
      assert.deepEqual(await spooled(), []);
      assert.deepEqual(await all(storage), []);
      await assert.rejects(storage.get(archive.integrity), StoreError);
    });

    test('a stream that is too long or breaks leaves nothing', async (t) => {
      const { storage, spooled } = await open(t);
      await assert.rejects(storage.spool(streamOf(randomBytes(5), randomBytes(6)), 10), (error) => {
        assert.ok(error instanceof OpenwopError);
        return error.code === 'payload_too_large';
      });
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield randomBytes(5);
        throw new Error('the line went dead');
      }
      await assert.rejects(storage.spool(broken(), MAX), /went dead/);
      assert.deepEqual(await spooled(), []);
    });

    test('keeping the same bytes twice, also at once, is one archive', async (t) => {
      const { storage } = await open(t);
      const bytes = randomBytes(1_000);
      await Promise.all([put(storage, bytes), put(storage, bytes)]);
      const integrity = await put(storage, bytes);
      assert.deepEqual(
        (await all(storage)).map((archive) => archive.integrity),
        [integrity],
      );
      assert.deepEqual(await buffer(await storage.get(integrity)), bytes);
    });

    test('what was deleted can be kept again while it is spooled', async (t) => {
      const { storage, spooled } = await open(t);
      const bytes = randomBytes(1_000);
      const archive = await storage.spool(streamOf(bytes), MAX);
      for (const _ of [1, 2]) await archive.keep();
      await storage.delete(archive.integrity);
      await archive.keep();
      await archive.discard();
      assert.deepEqual(await buffer(await storage.get(archive.integrity)), bytes);
      assert.deepEqual(await spooled(), []);
    });

    test('deleting is final and may be repeated', async (t) => {
      const { storage } = await open(t);
      const [first, second] = [await put(storage, randomBytes(9)), await put(storage, randomBytes(9))];
      for (const _ of [1, 2]) await storage.delete(first);
      assert.equal(await storage.has(first), false);
      assert.equal(await storage.has(second), true);
    });

    test('the sweep deletes what is old and named by nobody', async (t) => {
      const { storage } = await open(t);
      const [named, unnamed] = [await put(storage, randomBytes(9)), await put(storage, randomBytes(9))];
      const sweep = (now: number) => sweepArchives({ storage, named: async () => new Set([named]), now });
      const newest = Math.max(...(await all(storage)).map(({ storedAt }) => storedAt));
      assert.equal(await sweep(newest), 0, 'a publish may be under way');
      assert.equal(await sweep(newest + UNNAMED_AGE_MS), 1);
      assert.equal(await storage.has(unnamed), false);
      assert.equal(await storage.has(named), true);
    });
  });
}
