/** Registries as users specify them: `https://...`, a folder, `file://...`, or plain http on this machine. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createEgressByPurpose, type Egress, type EgressByPurpose, EgressError } from '@gantry/egress';
import { given, OpenwopError } from '@gantry/protocol';
import { archiveError } from '../archive/limits.ts';
import { DocumentRegistry, type DocumentSource, type RegistryTerms } from './document-registry.ts';
import { readDiscovery } from './documents.ts';
import { type CopyableRegistry, isPackName } from './registry.ts';

const LOCAL_HTTP = /^http:\/\/(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?(\/|$)/;

/** `PUBLIC=MIRROR` pairs: the registry of which each mirror is a copy. Throws for an invalid pair. */
export function readMirrors(list: readonly string[]): ReadonlyMap<string, string> {
  const pairs = list.map((pair) => pair.split('=').map((name) => name.trim().replace(/\/+$/, '')));
  for (const [index, [of = '', mirror = '', ...more]] of pairs.entries()) {
    if (of === '' || mirror === '' || more.length > 0)
      throw new Error(
        `"${list[index]}" is not REGISTRY=MIRROR, such as https://a.example=https://b.example.`,
      );
    assertRegistry(mirror);
  }
  return new Map(pairs.map(([of = '', mirror = '']) => [mirror, of.replace(/\/v1$/, '')]));
}

/** Names separated by commas, the primary first, then the fallbacks. Throws for an invalid name. */
export function readRegistries(list = ''): string[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) assertRegistry(name);
  return names;
}

function assertRegistry(name: string): void {
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(name);
  if (!isUrl || /^(https|file):\/\/./.test(name) || LOCAL_HTTP.test(name)) return;
  throw new Error(
    `${name} is neither https://... nor file://... nor a folder; plain http is for this machine alone.`,
  );
}

export const isRegistryAddress = (name: string): boolean => /^https?:/.test(name);

/** Key and signal are for a registry behind HTTP. */
interface OpenRegistryOptions extends RegistryTerms, Pick<HttpRegistryOptions, 'key' | 'signal'> {
  /** The base of relative folders. */
  readonly cwd?: string;
  /** A registry is allowed by its exact origin; its redirects are checked like any other address. */
  readonly egress?: EgressByPurpose;
}

export async function openRegistry(
  name: string,
  { cwd = '.', egress = createEgressByPurpose(), ...terms }: OpenRegistryOptions = {},
): Promise<CopyableRegistry> {
  assertRegistry(name);
  if (isRegistryAddress(name))
    return openHttpRegistry({ url: name, egress: egress.for('registry', [name]), ...terms });
  const folder = name.startsWith('file:') ? fileURLToPath(name) : path.resolve(cwd, name);
  return openFolderRegistry({ folder, ...terms });
}

interface HttpRegistryOptions extends RegistryTerms {
  /** Base address. A trailing `/v1` is removed, since paths contain it. */
  readonly url: string;
  readonly egress: Egress;
  /** For private packs. Egress sends it to no other server, even after a redirect. */
  readonly key?: string | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 30_000;
/** The storage of a registry is reached by redirects; each hop is checked by the egress policy. */
const REDIRECTS_MAX = 3;
const ABSENT: ReadonlySet<number> = new Set([404, 410]);

/** A registry behind HTTP, reached through the egress guard. */
export function openHttpRegistry(options: HttpRegistryOptions): CopyableRegistry {
  const { url, egress, timeoutMs = TIMEOUT_MS, signal, key, ...terms } = options;
  const base = url.replace(/\/+$/, '').replace(/\/v1$/, '');
  const headers = key ? { authorization: `Bearer ${key}` } : undefined;
  const request = { ...given({ timeoutMs, signal, headers }), redirects: REDIRECTS_MAX };
  const read: DocumentSource['read'] = async (path, maxResponseBytes) => {
    const asked = egress.request(base + path, { ...request, maxResponseBytes });
    const { status, body } = await asked.catch((error: unknown) => {
      if (error instanceof EgressError) throw unreachable(base, `is not reached: ${error.message}`);
      throw error;
    });
    if (status === 200) return body;
    if (ABSENT.has(status)) return undefined;
    if (status === 401) throw unreachable(base, 'refuses the key. Check GANTRY_REGISTRY_KEY.');
    throw unreachable(base, `answers ${status} for ${path}.`);
  };
  return new DocumentRegistry({ url: base, source: { read }, ...terms });
}

const unreachable = (registry: string, why: string): OpenwopError =>
  new OpenwopError('pack_registry_unreachable', {
    message: `The registry ${registry} ${why}`,
    details: { registry },
  });

/** The path of the discovery document in a static registry. */
const DISCOVERY_FILE = '.well-known/openwop-registry.json';
const PACKS_FOLDER = 'v1/packs';

interface FolderRegistryOptions extends RegistryTerms {
  /** The root of the tree or its parent folder. */
  readonly folder: string;
}

/** A registry as files: the tree of a static host. For machines without a network, and for tests. */
export async function openFolderRegistry(options: FolderRegistryOptions): Promise<CopyableRegistry> {
  const { folder, ...terms } = options;
  const { root, discovery } = await registryIn(folder);
  const declared = readDiscovery(discovery)?.url;
  const source = folderSource(path.resolve(root), declared?.replace(/\/+$/, ''));
  // The declared address, so that a mirror produces the same lockfile.
  const url = declared && URL.canParse(declared) ? declared : pathToFileURL(root).href;
  return new DocumentRegistry({ url, reach: 'local', source, ...terms });
}

async function registryIn(folder: string): Promise<{ root: string; discovery: Uint8Array }> {
  for (const root of [folder, path.join(folder, 'registry')]) {
    const discovery = await readOptional(path.join(root, DISCOVERY_FILE));
    if (discovery) return { root, discovery };
  }
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

function folderSource(root: string, declaredUrl: string | undefined): DocumentSource {
  return {
    declaredUrl,

    async read(address, bytesMax) {
      const file = path.resolve(root, decodeURIComponent(address).replace(/^\/+/, ''));
      if (!file.startsWith(root + path.sep)) return undefined;
      // A static host serves `x.json` for `x`.
      return (await readOptional(file, bytesMax)) ?? (await readOptional(`${file}.json`, bytesMax));
    },

    packs: async () => (await readdir(path.join(root, PACKS_FOLDER))).filter(isPackName).sort(),

    async versions(name) {
      const files = await readdir(path.join(root, PACKS_FOLDER, name, '-')).catch(() => []);
      return files.filter((file) => file.endsWith('.tgz')).map((file) => file.slice(0, -'.tgz'.length));
    },
  };
}
