/** The reading half of the registry over HTTP, on a catalogue in memory. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type Api, createServer, ensureAdminKey } from '@gantry/http';
import { archiveOf, writeArchive } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { freshFolder } from '../../../store/src/testing/data-dir.ts';
import { ANYONE } from '../catalogue/reader.ts';
import type { KeyDirectory } from '../derived/discovery.ts';
import { createReads, READ_ACCESS, readRoutes, siteRoutes } from '../routes/read-routes.ts';
import { type Facts, MemoryCatalogue, PUBLISHED_AT } from './memory-catalogue.ts';

const SAMPLES = path.join(import.meta.dirname, '../../../../packs');
export const ADMIN_KEY = 'gk_admin_for_reads_0123456789abcdef';

const DIRECTORY: KeyDirectory = {
  signingKeys: () => [
    {
      keyId: 'gantry-1',
      algorithm: 'ed25519',
      publicKeyUrl: '/keys/gantry-1.pub',
      permittedNamespaces: ['vendor.gantry.*'],
      operator: 'Gantry',
      status: 'active',
    },
  ],
  namespaceAssignments: () => [
    { namespace: 'vendor.gantry.*', owner: 'gantry', signingKeyId: 'gantry-1', claimedAt: PUBLISHED_AT },
  ],
};

export const SIGNED = {
  signing: { method: 'manual', keyId: 'gantry-1', state: 'verified', covers: 'manifest' },
} as const;

export const sampleArchive = async (folder: string): Promise<Buffer> =>
  (await writeArchive(path.join(SAMPLES, folder))).bytes;

/** A pack of nothing but its manifest and the files given. */
export async function packArchive(
  manifest: JsonObject,
  files: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const entries = Object.entries({ 'pack.json': JSON.stringify(manifest), ...files });
  return (await archiveOf(new Map(entries.map(([name, text]) => [name, Buffer.from(text)])))).bytes;
}

/** The sample packs, each signed. */
export async function sampleCatalogue(
  samples: readonly string[] = ['crc32', 'editor', 'http-check', 'review', 'text'],
  facts: Facts = SIGNED,
): Promise<MemoryCatalogue> {
  const catalogue = new MemoryCatalogue();
  for (const sample of samples) await catalogue.add(await sampleArchive(sample), facts);
  return catalogue;
}

export async function readServer(t: Pick<TestContext, 'after'>, catalogue: MemoryCatalogue): Promise<Api> {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  const now = Date.now;
  await ensureAdminKey(store, { adminKey: ADMIN_KEY, now, randomBytes });
  const { app } = createServer({
    access: READ_ACCESS,
    store,
    maxRequestBodyBytes: 1024 * 1024,
    now,
    randomBytes,
    log: pino({ level: 'silent' }),
  });
  const reads = createReads({
    catalogue,
    readerOf: () => ANYONE,
    store,
    now,
    directory: DIRECTORY,
    profile: {
      name: 'Gantry packs',
      operator: 'Gantry',
      publicUrl: 'https://packs.gantry.example',
      namespaces: ['core', 'vendor', 'community'],
      acceptsUnsigned: false,
      verifiesSigstore: false,
    },
  });
  readRoutes(app, reads);
  siteRoutes(app, reads);
  t.after(async () => {
    await app.close();
    await store.close();
    await folder.remove();
  });
  return app;
}
