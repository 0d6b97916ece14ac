/** Registries made for the occasion: their documents in a map, to be read from memory, a folder or a server. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { JsonObject } from '@gantry/protocol';
import { acmeKey, acmeKeys, type PackOptions, signedPack } from '../../testing/signed-pack.ts';
import { integrityOf } from '../../trust/keys.ts';
import { DocumentRegistry, type DocumentSource } from '../document-registry.ts';
import type { CopyableRegistry } from '../registry.ts';

export type Documents = Map<string, Uint8Array>;

const bytesOf = (value: JsonObject): Buffer => Buffer.from(JSON.stringify(value));

/** Versions with what their served manifests say beyond name, version and integrity. */
export type ManifestsByName = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

export const PUBLISHED_AT = '2026-05-01T00:00:00Z';

/** Index and manifests, without archives: enough to resolve. */
export function documentsOf(manifests: ManifestsByName, discovery: JsonObject = {}): Documents {
  const documents: Documents = new Map([['/.well-known/openwop-registry', bytesOf(discovery)]]);
  for (const [name, versions] of Object.entries(manifests)) {
    const served = Object.entries(versions).map(([version, more]): JsonObject => {
      const integrity = integrityOf(Buffer.from(`${name}@${version}`));
      return { name, version, integrity, publishedAt: PUBLISHED_AT, ...more };
    });
    for (const manifest of served)
      documents.set(`/v1/packs/${name}/-/${manifest.version}.json`, bytesOf(manifest));
    documents.set(`/v1/packs/${name}`, bytesOf({ name, versions: served }));
  }
  return documents;
}

export interface Published extends PackOptions {
  /** What the registry adds to the manifest: `yanked`, `publishedAt`, another integrity. */
  readonly served?: JsonObject;
}

/** A node pack that installs anywhere. */
export const nodeManifest = (name: string, version: string, more: JsonObject = {}): JsonObject => ({
  name,
  version,
  engines: { openwop: '>=1.0.0' },
  nodes: [{ typeId: `${name}.echo`, version, category: 'data', role: 'pure' }],
  runtime: { language: 'javascript', entry: 'index.mjs' },
  ...more,
});

/** A whole signed registry. */
export async function publishedDocuments(
  packs: readonly Published[],
  discovery: JsonObject = {},
): Promise<Documents> {
  const { publicKey: _, ...key } = acmeKey;
  const signingKeys = [
    { ...key, permittedNamespaces: [...key.permittedNamespaces], publicKeyUrl: '/keys/acme-1.pub' },
  ];
  const manifests: Record<string, Record<string, JsonObject>> = {};
  const archives: Documents = new Map([['/keys/acme-1.pub', Buffer.from(acmeKeys.publicKey)]]);
  for (const { served, ...published } of packs) {
    const { name, version, archive, integrity, signing, detachedSignature } = await signedPack(published);
    const manifest = { ...published.manifest, ...(signing === undefined ? {} : { signing: { ...signing } }) };
    manifests[name] = { ...manifests[name], [version]: { ...manifest, integrity, ...served } };
    archives.set(`/v1/packs/${name}/-/${version}.tgz`, archive);
    if (detachedSignature !== undefined)
      archives.set(`/v1/packs/${name}/-/${version}.sig`, detachedSignature);
  }
  return new Map([...documentsOf(manifests, { signingKeys, ...discovery }), ...archives]);
}

export interface MemoryRegistryOptions {
  readonly url?: string;
  readonly reach?: 'local';
  /** Waits before an answer, to shuffle their order. */
  readonly before?: (path: string) => Promise<void>;
  /** Told of every document that is asked for. */
  readonly onRead?: (path: string) => void;
}

export function memoryRegistry(documents: Documents, options: MemoryRegistryOptions = {}): CopyableRegistry {
  const { url = 'https://packs.example', reach, before, onRead } = options;
  const source: DocumentSource = {
    read: async (address) => {
      onRead?.(address);
      await before?.(address);
      return documents.get(decodeURIComponent(address));
    },
  };
  return new DocumentRegistry({ url, reach, source });
}

/** Lays the documents out as a static host would: what is no file name by itself gets `.json` or is an index. */
export async function writeDocuments(documents: Documents, folder: string): Promise<void> {
  for (const [address, bytes] of documents) {
    const file = path.join(folder, fileOf(address));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
}

function fileOf(address: string): string {
  if (/^\/v1\/packs\/[^/]+$/.test(address)) return `${address}/index.json`;
  return /\.(json|tgz|sig|pub)$/.test(address) ? address : `${address}.json`;
}
