/** Pages of packs made for the occasion. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import type { Facts } from './memory-catalogue.ts';
import { packArchive, readServer, sampleCatalogue } from './read-server.ts';

export const nodePack = (change: JsonObject = {}): JsonObject => ({
  name: 'vendor.acme.tools',
  version: '1.0.0',
  kind: 'node',
  engines: { openwop: '>=1.0.0' },
  runtime: { language: 'javascript', entry: './index.mjs' },
  ...change,
});

/** The page of a registry with one pack. */
export async function pageOf(
  t: TestContext,
  manifest: JsonObject,
  files: Record<string, string> = {},
  facts: Facts = {},
) {
  const catalogue = await sampleCatalogue([]);
  await catalogue.add(await packArchive(manifest, files), facts);
  const app = await readServer(t, catalogue);
  const { body, statusCode, headers } = await app.inject(`/packs/${String(manifest.name)}`);
  assert.equal(statusCode, 200);
  return { app, body, headers };
}

/** The elements of a page by name, as a browser would see them: there is no script among ours. */
export const elements = (body: string): Set<string> =>
  new Set([...body.matchAll(/<([a-z0-9]+)/g)].map(([, name]) => name!));
