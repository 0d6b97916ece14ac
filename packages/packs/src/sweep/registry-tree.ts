import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import Type from 'typebox';
import { Check } from 'typebox/value';
import { ARCHIVE_LIMITS, archiveError } from '../archive/limits.ts';
import { isFilePath } from '../archive/path.ts';
import { Signing } from '../manifest/fields.ts';
import { readAdvisories, type SecurityAdvisory } from '../trust/advisory.ts';
import type { RegistryRecord } from '../trust/judge-trust.ts';
import type { TrustedKey } from '../trust/keys.ts';

/** A registry as files: the tree that a static host would serve. */
export interface RegistryTree {
  readonly keys: readonly TrustedKey[];
  readonly advisories: readonly SecurityAdvisory[];
  readonly versions: readonly VersionFiles[];
}

export interface VersionFiles {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

export interface PublishedVersion {
  readonly archive: Buffer;
  readonly signature: Buffer | undefined;
  readonly record: RegistryRecord;
  readonly signing: Signing | undefined;
}

const DISCOVERY = '.well-known/openwop-registry.json';
const PACKS = 'v1/packs';
const FILE_BYTES_MAX = ARCHIVE_LIMITS.archiveBytesMax;

const Discovery = Type.Object({
  signingKeys: Type.Array(
    Type.Object({
      keyId: Type.String(),
      publicKeyUrl: Type.String(),
      permittedNamespaces: Type.Array(Type.String()),
      status: Type.Enum(['active', 'retired', 'revoked']),
    }),
  ),
});

const VersionManifest = Type.Object({
  integrity: Type.String(),
  publishedAt: Type.Optional(Type.String()),
  signing: Type.Optional(Signing),
  yanked: Type.Optional(Type.Boolean()),
  yankedReason: Type.Optional(Type.String()),
  deprecated: Type.Optional(Type.Boolean()),
  deprecationReason: Type.Optional(Type.String()),
  supersededBy: Type.Optional(Type.String()),
});

/** Opens a tree; `folder` is its root or the folder above it. */
export async function openRegistryTree(folder: string): Promise<RegistryTree> {
  const root = await findRoot(folder);
  const discovery: unknown = JSON.parse((await read(path.join(root, DISCOVERY))).toString('utf8'));
  if (!Check(Discovery, discovery)) throw new Error(`${DISCOVERY} is not a discovery document of a registry`);
  const keys = discovery.signingKeys.map(async ({ publicKeyUrl, ...key }) => ({
    ...key,
    publicKey: (await read(inside(root, publicKeyUrl))).toString('utf8'),
  }));
  const feed = await readOptional(path.join(root, 'security/advisories.json'));
  return {
    keys: await Promise.all(keys),
    advisories: feed ? advisoriesOf(feed) : [],
    versions: await listVersions(root),
  };
}

function advisoriesOf(feed: Buffer): readonly SecurityAdvisory[] {
  const { advisories, unreadable } = readAdvisories(JSON.parse(feed.toString('utf8')));
  if (unreadable > 0) throw new Error(`${unreadable} security advisories of the registry cannot be read`);
  return advisories;
}

export async function readVersion({ folder, version }: VersionFiles): Promise<PublishedVersion> {
  const at = (ending: string): string => path.join(folder, `${version}.${ending}`);
  const served: unknown = JSON.parse((await read(at('json'))).toString('utf8'));
  if (!Check(VersionManifest, served))
    throw archiveError('invalid_manifest', `The registry serves no valid manifest of version ${version}.`);
  const { integrity, publishedAt, signing, yanked, yankedReason, deprecated } = served;
  const { deprecationReason, supersededBy } = served;
  return {
    archive: await read(at('tgz')),
    signature: await readOptional(at('sig')),
    signing,
    record: {
      integrity,
      ...(publishedAt === undefined ? {} : { publishedAt }),
      ...(yanked ? { yanked: yankedReason === undefined ? {} : { reason: yankedReason } } : {}),
      ...(deprecated
        ? {
            deprecated: {
              ...(deprecationReason === undefined ? {} : { reason: deprecationReason }),
              ...(supersededBy === undefined ? {} : { supersededBy }),
            },
          }
        : {}),
    },
  };
}

async function findRoot(folder: string): Promise<string> {
  for (const root of [folder, path.join(folder, 'registry')])
    if (await readOptional(path.join(root, DISCOVERY))) return root;
  throw new Error(`${folder} is no registry tree: it has no ${DISCOVERY}`);
}

async function listVersions(root: string): Promise<VersionFiles[]> {
  const packs = (await readdir(path.join(root, PACKS))).sort();
  const versions = packs.map(async (name) => {
    const folder = path.join(root, PACKS, name, '-');
    const files = await readdir(folder).catch(() => []);
    return files
      .filter((file) => file.endsWith('.tgz'))
      .sort()
      .map((file) => ({ name, version: file.slice(0, -'.tgz'.length), folder }));
  });
  return (await Promise.all(versions)).flat();
}

function inside(root: string, url: string): string {
  const relative = url.replace(/^\//, '');
  if (!isFilePath(relative)) throw new Error(`${url} is not inside the registry tree`);
  return path.join(root, relative);
}

async function read(file: string): Promise<Buffer> {
  const { size } = await stat(file);
  if (size > FILE_BYTES_MAX) throw archiveError('tarball_too_large', `${path.basename(file)} is too large.`);
  return await readFile(file);
}

async function readOptional(file: string): Promise<Buffer | undefined> {
  try {
    return await read(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
