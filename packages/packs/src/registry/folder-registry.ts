import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { OpenwopError } from '@gantry/protocol';
import { archiveError } from '../archive/limits.ts';
import type { TrustedKey } from '../trust/keys.ts';
import { DocumentRegistry, type DocumentSource } from './document-registry.ts';
import { readDiscovery } from './documents.ts';
import { type CopyableRegistry, isPackName } from './registry.ts';

/** Where a static registry keeps its discovery document. */
const DISCOVERY_FILE = '.well-known/openwop-registry.json';
const PACKS_FOLDER = 'v1/packs';

export interface FolderRegistryOptions {
  /** The root of the tree or the folder above it. */
  readonly folder: string;
  /** What the registry is called; else what its discovery says, so that a mirror makes the same lockfile. */
  readonly url?: string;
  readonly roots?: readonly TrustedKey[];
  readonly mirrorOf?: string;
}

/** A registry as files: the tree that a static host would serve. For machines without a network, and for tests. */
export async function openFolderRegistry({
  folder,
  url,
  ...keys
}: FolderRegistryOptions): Promise<CopyableRegistry> {
  const root = await rootOf(folder);
  const discovery = await readOptional(path.join(root, DISCOVERY_FILE));
  const declared = discovery && readDiscovery(discovery)?.url;
  const source = folderSource(path.resolve(root), (declared ?? '').replace(/\/+$/, ''));
  return new DocumentRegistry({
    url: url ?? (declared && URL.canParse(declared) ? declared : pathToFileURL(root).href),
    reach: 'local',
    source,
    ...keys,
  });
}

async function rootOf(folder: string): Promise<string> {
  for (const root of [folder, path.join(folder, 'registry')])
    if (await readOptional(path.join(root, DISCOVERY_FILE))) return root;
  throw new OpenwopError('pack_registry_unreachable', {
    message: `${folder} holds no registry tree: ${DISCOVERY_FILE} is missing.`,
    details: { folder },
  });
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

async function readOptional(file: string, bytesMax = Infinity): Promise<Buffer | undefined> {
  try {
    if ((await stat(file)).size > bytesMax)
      throw archiveError('tarball_too_large', `${path.basename(file)} is too large.`);
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && MISSING.has(String(error.code))) return undefined;
    throw error;
  }
}

function folderSource(root: string, declaredUrl: string): DocumentSource {
  return {
    async read(address, bytesMax) {
      const file = path.resolve(root, decodeURIComponent(address).replace(/^\/+/, ''));
      if (!file.startsWith(root + path.sep)) return undefined;
      // A static host serves `x.json` for `x`.
      return (await readOptional(file, bytesMax)) ?? (await readOptional(`${file}.json`, bytesMax));
    },

    pathOf(address) {
      if (declaredUrl !== '' && address.startsWith(`${declaredUrl}/`))
        return address.slice(declaredUrl.length);
      if (!/^[a-z][a-z0-9+.-]*:|^\/\//i.test(address))
        return address.startsWith('/') ? address : `/${address}`;
      throw new OpenwopError('pack_registry_unreachable', {
        message: `The registry in this folder refers to ${address}, which is not in the folder.`,
      });
    },

    packs: async () => (await readdir(path.join(root, PACKS_FOLDER))).filter(isPackName).sort(),

    async versions(name) {
      const files = await readdir(path.join(root, PACKS_FOLDER, name, '-')).catch(() => []);
      return files.filter((file) => file.endsWith('.tgz')).map((file) => file.slice(0, -'.tgz'.length));
    },
  };
}
