import { readdir } from 'node:fs/promises';
import path from 'node:path';
import Type from 'typebox';
import { Check } from 'typebox/value';
import { archiveError } from '../archive/limits.ts';
import type { Signing } from '../manifest/fields.ts';
import { readServed, standing } from '../registry/documents.ts';
import {
  DISCOVERY_FILE,
  fileInside,
  findRoot,
  PACKS_FOLDER,
  readBounded,
  readOptional,
} from '../registry/folder-files.ts';
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

/** Opens a tree; `folder` is its root or the folder above it. */
export async function openRegistryTree(folder: string): Promise<RegistryTree> {
  const root = await findRoot(folder);
  const discovery: unknown = JSON.parse(
    (await readBounded(path.join(root, DISCOVERY_FILE))).toString('utf8'),
  );
  if (!Check(Discovery, discovery))
    throw new Error(`${DISCOVERY_FILE} is not a discovery document of a registry`);
  const keys = discovery.signingKeys.map(async ({ publicKeyUrl, ...key }) => ({
    ...key,
    publicKey: (await readBounded(fileInside(root, publicKeyUrl))).toString('utf8'),
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
  const served = readServed(await readBounded(at('json')));
  if (served?.integrity === undefined)
    throw archiveError('invalid_manifest', `The registry serves no valid manifest of version ${version}.`);
  return {
    archive: await readBounded(at('tgz')),
    signature: await readOptional(at('sig')),
    signing: served.signing,
    record: { integrity: served.integrity, ...standing(served) },
  };
}

async function listVersions(root: string): Promise<VersionFiles[]> {
  const packs = (await readdir(path.join(root, PACKS_FOLDER))).sort();
  const versions = packs.map(async (name) => {
    const folder = path.join(root, PACKS_FOLDER, name, '-');
    const files = await readdir(folder).catch(() => []);
    return files
      .filter((file) => file.endsWith('.tgz'))
      .sort()
      .map((file) => ({ name, version: file.slice(0, -'.tgz'.length), folder }));
  });
  return (await Promise.all(versions)).flat();
}
