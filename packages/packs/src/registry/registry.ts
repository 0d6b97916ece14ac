import { OpenwopError } from '@gantry/protocol';
import semver from 'semver';
import { ReverseDns, type Signing } from '../manifest/fields.ts';
import type { SecurityAdvisory } from '../trust/advisory.ts';
import type { RegistryRecord } from '../trust/judge-trust.ts';
import type { TrustedKey } from '../trust/keys.ts';

/** The index entry of a version. */
export interface IndexedVersion extends Omit<RegistryRecord, 'integrity'> {
  readonly version: string;
  readonly integrity?: string;
}

export interface PackIndex {
  readonly name: string;
  /** As listed by the registry, in any order. */
  readonly versions: readonly IndexedVersion[];
  readonly latest?: string;
}

/** The manifest that a registry serves next to the archive: the facts of a version without fetching it. */
export interface VersionManifest {
  readonly name: string;
  readonly version: string;
  readonly record: RegistryRecord;
  /** The source of `archive`, as recorded in lockfiles. */
  readonly tarballUrl: string;
  readonly signing?: Signing;
  /** Ranges by pack name. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  /** The sandbox permissions that the pack requires. */
  readonly requires: readonly string[];
}

/**
 * A source of packs. `undefined` means that the registry answers and has no such item. One that does not answer
 * throws `pack_registry_unreachable`, for the archive and its signature `pack_fetch_failed`.
 */
export interface Registry {
  /** Its name in lockfiles, without a trailing slash. */
  readonly url: string;
  /** The registry that it mirrors: addresses there are served from here. */
  readonly mirrorOf?: string | undefined;
  /** In offline mode, only local registries are used. */
  readonly reach?: 'local' | undefined;
  index(name: string): Promise<PackIndex | undefined>;
  manifest(name: string, version: string): Promise<VersionManifest | undefined>;
  archive(name: string, version: string): Promise<Uint8Array | undefined>;
  signature(name: string, version: string): Promise<Uint8Array | undefined>;
  /**
   * The keys that may sign the pack according to this registry, with the proved ones of the pack's keychain, and
   * the key that did sign, which may be permitted for other names only.
   */
  keys(name: string, keyId?: string): Promise<readonly TrustedKey[]>;
  advisories(): Promise<readonly SecurityAdvisory[]>;
}

/** The documents of a registry about itself and its packs, besides archives. */
export type RegistryDocument =
  | { readonly of: 'discovery' | 'registryIndex' | 'advisories' }
  /** In PEM, at the address from discovery. */
  | { readonly of: 'publicKey'; readonly url: string }
  | { readonly of: 'packMetadata' | 'keychain'; readonly name: string }
  | { readonly of: 'versionManifest'; readonly name: string; readonly version: string };

/** A registry that can be copied: it lists its packs and returns its documents byte for byte. */
export interface CopyableRegistry extends Registry {
  /** The names of all packs. */
  list(): Promise<readonly string[]>;
  /** The bytes as served, unchecked; undefined if there is no such document. */
  document(document: RegistryDocument): Promise<Uint8Array | undefined>;
}

const NAME_LENGTH_MAX = 256;
/** The limit of lockfiles. */
const VERSION_LENGTH_MAX = 64;

export const isPackName = (name: string): boolean =>
  name.length <= NAME_LENGTH_MAX && ReverseDns.test(name) && !name.includes('..');

export const isVersion = (version: string): boolean =>
  version.length <= VERSION_LENGTH_MAX && semver.valid(version) === version.split('+')[0];

/** Names and versions become parts of paths and addresses, so anything else is refused. */
export function checkAsked(name: string, version?: string): void {
  if (!isPackName(name))
    throw new OpenwopError('invalid_pack_name', { message: `${quoted(name)} is not the name of a pack.` });
  if (version !== undefined && !isVersion(version))
    throw new OpenwopError('invalid_version', { message: `${quoted(version)} is not a version of a pack.` });
}

/** Text from outside, safe for a message. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));
