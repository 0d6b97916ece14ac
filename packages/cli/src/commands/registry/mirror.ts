/**
 * `gantry registry mirror`: copies a registry into a folder of plain files, byte for byte. `--registry
 * FOLDER` reads it, and any static web server can serve it. Only the discovery document is rewritten: it
 * names the original registry, so lockfiles made against that registry stay valid, and the paths of the files
 * here.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type CopyableRegistry,
  fetchPack,
  integrityOf,
  judgeFetched,
  permits,
  readDiscovery,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { EXIT, type Io, UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable, sizeOf } from '../../style.ts';
import { openRegistry } from '../pack/registries.ts';

const PACKS_AT_ONCE = 4;
/** After this many failures in a row the registry is considered unreachable. */
const UNREACHABLE_MAX = 8;
const UNREACHABLE: ReadonlySet<string> = new Set(['pack_registry_unreachable', 'pack_fetch_failed']);
const PATTERN = /^[a-z][a-zA-Z0-9_-]*(\.[a-zA-Z0-9_-]+)*(\.\*)?$/;
/** Key ids become file names. */
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const CLEAR_LINE = '\r\u001b[K';

const DISCOVERY = '.well-known/openwop-registry.json';
const INDEX = 'v1/index.json';
const PACKS = 'v1/packs';
/** A server can answer at `/v1/packs/{name}`; in a file system that is a folder. */
const ENDPOINTS = {
  registryIndex: `/${INDEX}`,
  packMetadata: `/${PACKS}/{name}/index.json`,
  versionManifest: `/${PACKS}/{name}/-/{version}.json`,
  versionTarball: `/${PACKS}/{name}/-/{version}.tgz`,
  versionSignature: `/${PACKS}/{name}/-/{version}.sig`,
};

interface Mirror {
  readonly registry: CopyableRegistry;
  readonly folder: string;
  readonly io: Io;
  readonly counts: Record<
    'packs' | 'versions' | 'copied' | 'updated' | 'unchanged' | 'unverified' | 'bytes',
    number
  >;
  readonly refused: { readonly what: string; readonly code: string; readonly reason: string }[];
  unreachableInARow: number;
}

/** Exit code 0 if everything was copied, 1 if something was not. */
export async function mirror(call: Call): Promise<number> {
  const { args, io } = call;
  const [, source = '', target = ''] = args.words;
  const only = patternsOf(args.text('only'));
  const work: Mirror = {
    registry: await openRegistry(call, source, args.text('key')),
    folder: path.resolve(io.cwd, target),
    io,
    counts: { packs: 0, versions: 0, copied: 0, updated: 0, unchanged: 0, unverified: 0, bytes: 0 },
    refused: [],
    unreachableInARow: 0,
  };
  const listed = await work.registry.list();
  const names = listed.filter((name) => only === undefined || permits(only, name));
  for (const pattern of only ?? [])
    if (!names.some((name) => permits([pattern], name))) refuseUnlisted(work, pattern);
  await copySite(work);
  const queue = [...new Set(names)].values();
  const worker = async (): Promise<void> => {
    for (const name of queue) await attempt(work, name, () => copyPack(work, name));
  };
  await Promise.all(Array.from({ length: PACKS_AT_ONCE }, worker));
  const index = only === undefined ? await work.registry.document({ of: 'registryIndex' }) : undefined;
  await put(work, INDEX, index ?? (await listing(work)));
  if (args.flag('json')) printJson(call, { ...work.counts, refused: work.refused });
  else report(work);
  return work.refused.length === 0 ? EXIT.ok : EXIT.failed;
}

/** A typing error, or a pack that this key may not see. */
function refuseUnlisted({ refused }: Mirror, pattern: string): void {
  refused.push({ what: pattern, code: 'pack_not_found', reason: 'The registry lists no such pack.' });
}

function patternsOf(list: string | undefined): string[] | undefined {
  const patterns = list?.split(',');
  const wrong = patterns?.find((pattern) => !PATTERN.test(pattern));
  if (wrong === undefined) return patterns;
  throw new UsageError(`--only: "${wrong}" is neither a name nor a namespace such as vendor.acme.*`);
}

const json = (value: object): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

/** Discovery, keys and advisories. Packs are verified with these, so they are copied first. */
async function copySite(work: Mirror): Promise<void> {
  const { registry, folder } = work;
  const bytes = await registry.document({ of: 'discovery' });
  const discovery = bytes === undefined ? {} : readDiscovery(bytes);
  if (discovery === undefined)
    throw new UsageError(`The discovery document of ${registry.url} is not valid.`);
  const url = discovery.url !== undefined && URL.canParse(discovery.url) ? discovery.url : registry.url;
  const before = await read(work, DISCOVERY);
  const other = before && readDiscovery(before)?.url;
  if (other !== undefined && other !== url)
    throw new UsageError(`${folder} is a mirror of ${other}. Use another folder for ${url}.`);
  await registry.advisories();
  const advisories = await registry.document({ of: 'advisories' });
  if (advisories !== undefined) await put(work, 'security/advisories.json', advisories);
  const signingKeys: object[] = [];
  for (const key of discovery.signingKeys ?? []) {
    const publicKey = KEY_ID.test(key.keyId)
      ? await registry.document({ of: 'publicKey', url: key.publicKeyUrl })
      : undefined;
    if (publicKey === undefined) continue;
    await put(work, `keys/${key.keyId}.pub`, publicKey);
    signingKeys.push({ ...key, publicKeyUrl: `/keys/${key.keyId}.pub` });
  }
  const writeApi = { supported: false };
  await put(work, DISCOVERY, json({ ...discovery, url, endpoints: ENDPOINTS, writeApi, signingKeys }));
}

/** Versions first and the index last, so that an interrupted mirror lists only what it has. */
async function copyPack(work: Mirror, name: string): Promise<void> {
  const { registry, counts } = work;
  const index = await registry.index(name);
  if (index === undefined) throw missing(registry, name);
  counts.packs++;
  const keychain = await registry.document({ of: 'keychain', name });
  if (keychain !== undefined) await put(work, `${PACKS}/${name}/-/keychain`, keychain);
  for (const { version } of index.versions)
    await attempt(work, `${name}@${version}`, () => copyVersion(work, name, version));
  const bytes = await registry.document({ of: 'packMetadata', name });
  if (bytes !== undefined) await put(work, `${PACKS}/${name}/index.json`, bytes);
}

async function copyVersion(work: Mirror, name: string, version: string): Promise<void> {
  const { registry, counts } = work;
  const at = `${PACKS}/${name}/-/${version}`;
  const manifest = await registry.document({ of: 'versionManifest', name, version });
  const served = await registry.manifest(name, version);
  if (manifest === undefined || served === undefined) throw missing(registry, `${name}@${version}`);
  const here = await read(work, `${at}.tgz`);
  if (here !== undefined && integrityOf(here) !== served.record.integrity)
    throw new OpenwopError('conflict', {
      message: `The archive in the mirror has other bytes (${integrityOf(here)}) than the one served now (${served.record.integrity}). Delete ${at}.tgz to fetch it again.`,
    });
  if (here === undefined) await copyArchive(work, { name, version, at });
  const isChanged = await put(work, `${at}.json`, manifest);
  counts[here === undefined ? 'copied' : isChanged ? 'updated' : 'unchanged']++;
  counts.versions++;
  if (work.io.stdout.isTTY)
    work.io.stdout.write(`${CLEAR_LINE}${counts.versions} versions, ${sizeOf(counts.bytes)}`);
}

/**
 * Refuses wrong integrity, a wrong signature or a key of another namespace. The host decides whether unsigned
 * packs may be installed, as with the registry itself.
 */
async function copyArchive(
  work: Mirror,
  { name, version, at }: { readonly name: string; readonly version: string; readonly at: string },
): Promise<void> {
  const fetched = await fetchPack({ registry: work.registry, name, version });
  const trust = await judgeFetched(fetched, { policy: { mode: 'open' }, isExact: true, now: work.io.now() });
  if (!trust.trusted) throw new OpenwopError(trust.code, { message: trust.message });
  if (trust.level === 'unsigned') work.counts.unverified++;
  if (fetched.detachedSignature !== undefined) await put(work, `${at}.sig`, fetched.detachedSignature);
  await put(work, `${at}.tgz`, fetched.bytes);
  work.counts.bytes += fetched.bytes.length;
}

const missing = ({ url }: CopyableRegistry, what: string): OpenwopError =>
  new OpenwopError('pack_version_not_found', { message: `${url} lists ${what} but does not serve it.` });

async function attempt(work: Mirror, what: string, copy: () => Promise<void>): Promise<void> {
  const { signal } = work.io;
  signal.throwIfAborted();
  try {
    await copy();
    work.unreachableInARow = 0;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof OpenwopError)) throw error;
    work.unreachableInARow = UNREACHABLE.has(error.code) ? work.unreachableInARow + 1 : 0;
    if (work.unreachableInARow >= UNREACHABLE_MAX)
      throw new UsageError(`${error.message}\nRun the same command again to continue.`);
    work.refused.push({ what, code: error.code, reason: error.message });
  }
}

/** The packs in the folder, for a registry that was copied in part or has no index. */
async function listing({ folder }: Mirror): Promise<Buffer> {
  const names = await readdir(path.join(folder, PACKS)).catch(() => []);
  return json({ packs: names.sort().map((name) => ({ name })) });
}

async function read({ folder }: Mirror, file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path.join(folder, file));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes atomically. Returns whether anything changed. */
async function put(work: Mirror, file: string, bytes: Uint8Array): Promise<boolean> {
  if ((await read(work, file))?.equals(bytes)) return false;
  const target = path.join(work.folder, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(`${target}.part`, bytes);
  await rename(`${target}.part`, target);
  return true;
}

function report({ counts, refused, io, folder }: Mirror): void {
  const { packs, versions, copied, updated, unchanged, unverified, bytes } = counts;
  const lines = [
    `${versions} versions of ${packs} packs: ${copied} copied (${sizeOf(bytes)}), ${updated} updated, ${unchanged} unchanged, ${refused.length} refused.`,
    ...(unverified === 0
      ? []
      : [`${unverified} of the copied versions are unsigned, or signed by an unknown key.`]),
    ...refused.map(({ what, code, reason }) => `  ${what}: ${code}: ${reason}`),
    `Use it with --registry ${folder}`,
  ];
  io.stdout.write(`${io.stdout.isTTY ? CLEAR_LINE : ''}${lines.map(printable).join('\n')}\n`);
}
