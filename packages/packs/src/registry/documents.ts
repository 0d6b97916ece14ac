/** The documents of registries, in all dialects in use, converted to one shape each. */
import { given, lazyValidator, OpenwopError } from '@gantry/protocol';
import semver from 'semver';
import Type, { type Static, type TSchema } from 'typebox';
import { type Frozen, jsonOf } from '../json.ts';
import { Flag, list, open, Signing, text } from '../manifest/fields.ts';
import type { RegistryRecord } from '../trust/judge-trust.ts';
import { INTEGRITY, KeychainKey } from '../trust/keys.ts';
import {
  type IndexedVersion,
  isPackName,
  isVersion,
  type PackIndex,
  type VersionManifest,
} from './registry.ts';

const PACKS_MAX = 100_000;
const VERSIONS_MAX = 10_000;
const KEYS_MAX = 10_000;

const Text = text(4096);
const Time = text(64);
const Reason = Type.Union([Text, Type.Null()]);

/** Nested in the specification text, but flat in served data. */
const lifecycle = {
  'publishedAt?': Time,
  'integrity?': Text,
  'tarballSha256?': Text,
  'yanked?': Type.Union([Flag, Type.Null(), open({ 'reason?': Reason })]),
  'yankedReason?': Reason,
  'deprecated?': Flag,
  'deprecationReason?': Reason,
  'supersededBy?': Reason,
  'deprecation?': open({ 'deprecated?': Flag, 'reason?': Reason, 'supersededBy?': Reason }),
};
const Lifecycle = open(lifecycle);
type Lifecycle = Static<typeof Lifecycle>;

const Latest = text(128);
const Index = open({
  versions: Type.Union([
    list(open({ version: Text, ...lifecycle }), VERSIONS_MAX),
    Type.Record(Type.String(), Lifecycle, { maxProperties: VERSIONS_MAX }),
  ]),
  'latest?': Latest,
  'dist-tags?': open({ 'latest?': Latest }),
});

const RegistryIndex = open({ packs: list(open({ name: text(256) }), PACKS_MAX) });

const Ranges = Type.Record(text(256), text(128, 1), { maxProperties: 200 });
const Served = open({
  'name?': Text,
  'version?': Text,
  ...lifecycle,
  'signing?': Signing,
  'dependencies?': Ranges,
  'peerDependencies?': Ranges,
  'runtime?': open({ 'requires?': list(text(256), 100) }),
});
type ServedManifest = Static<typeof Served>;

const Template = text(2048);
const SigningKey = open({
  keyId: text(256),
  publicKeyUrl: text(2048),
  permittedNamespaces: list(text(256), 1000),
  status: Type.Enum(['active', 'retired', 'revoked']),
  'validFrom?': Time,
  'validUntil?': Time,
});
const Discovery = open({
  'url?': Template,
  'endpoints?': open({
    'registryIndex?': Template,
    'packMetadata?': Template,
    'versionManifest?': Template,
    'versionTarball?': Template,
    'versionSignature?': Template,
  }),
  'signingKeys?': list(SigningKey, KEYS_MAX),
});
export type Discovery = Static<typeof Discovery>;

const Keychain = open({ namespace: text(256), keys: list(KeychainKey, KEYS_MAX) });
export type Keychain = Frozen<Static<typeof Keychain>>;

/** Parses documents of one shape; undefined for any other. */
function reader<T extends TSchema>(schema: T): (bytes: Uint8Array) => Static<T> | undefined {
  const validator = lazyValidator(schema);
  return (bytes) => {
    const value = jsonOf(bytes);
    return validator.Check(value) ? value : undefined;
  };
}

export const readDiscovery = reader(Discovery);
export const readKeychain = reader(Keychain);
export const readServed = reader(Served);
const readIndex = reader(Index);
const readRegistryIndex = reader(RegistryIndex);

/** The names of all packs, without invalid ones. */
export const readPackNames = (bytes: Uint8Array): readonly string[] | undefined =>
  readRegistryIndex(bytes)
    ?.packs.map(({ name }) => name)
    .filter(isPackName);

export function readPackIndex(name: string, bytes: Uint8Array): PackIndex | undefined {
  const index = readIndex(bytes);
  if (index === undefined) return undefined;
  const listed = Array.isArray(index.versions)
    ? index.versions
    : Object.entries(index.versions).map(([version, entry]) => ({ ...entry, version }));
  const latest = index['dist-tags']?.latest ?? index.latest;
  return {
    name,
    // A version that cannot be ordered is omitted.
    versions: listed.filter(({ version }) => isVersion(version)).map(indexedVersion),
    ...given({ latest }),
  };
}

function indexedVersion(entry: Lifecycle & { version: string }): IndexedVersion {
  const integrity = entry.integrity ?? entry.tarballSha256;
  return { version: entry.version, ...given({ integrity }), ...standing(entry) };
}

/** The served manifest of a version, or `pack_manifest_invalid` with the error. */
export function versionManifestOf(
  { name, version }: { readonly name: string; readonly version: string },
  served: ServedManifest | undefined,
  tarballUrl: string,
): VersionManifest {
  const invalid = (why: string): OpenwopError =>
    new OpenwopError('pack_manifest_invalid', {
      message: `The manifest that the registry serves for ${name}@${version} ${why}.`,
      details: { packName: name, version },
    });
  if (served === undefined) throw invalid('is not readable');
  if ((served.name ?? name) !== name || (served.version ?? version) !== version)
    throw invalid('is that of another pack');
  const integrity = served.integrity ?? served.tarballSha256;
  if (integrity === undefined || !INTEGRITY.test(integrity)) throw invalid('lacks a SHA-256 integrity');
  const dependencies = served.dependencies ?? {};
  for (const [dependency, range] of Object.entries(dependencies)) {
    if (!isPackName(dependency)) throw invalid(`depends on ${dependency}, which is not the name of a pack`);
    if (semver.validRange(range) === null) throw invalid(`wants ${dependency} in the broken range ${range}`);
  }
  return {
    name,
    version,
    tarballUrl,
    record: { integrity, ...standing(served) },
    ...given({ signing: served.signing }),
    dependencies,
    peerDependencies: served.peerDependencies ?? {},
    requires: served.runtime?.requires ?? [],
  };
}

/** The publication time, and whether the version is withdrawn or replaced. */
function standing(entry: Lifecycle): Omit<RegistryRecord, 'integrity'> {
  const { publishedAt, yanked, deprecation } = entry;
  const nested = typeof yanked === 'object' && yanked !== null ? yanked : {};
  const yankedReason = entry.yankedReason ?? nested.reason ?? undefined;
  const reason = entry.deprecationReason ?? deprecation?.reason ?? undefined;
  const supersededBy = entry.supersededBy ?? deprecation?.supersededBy ?? undefined;
  const isDeprecated =
    entry.deprecated === true || (deprecation !== undefined && deprecation.deprecated !== false);
  return {
    ...given({ publishedAt }),
    ...(yanked && { yanked: given({ reason: yankedReason }) }),
    ...(isDeprecated && { deprecated: given({ reason, supersededBy }) }),
  };
}
