/** The documents that registries serve, in all dialects that are in use, read into one shape each. */
import { given, OpenwopError } from '@gantry/protocol';
import semver from 'semver';
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { type Frozen, jsonOf } from '../json.ts';
import { Signing } from '../manifest/fields.ts';
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

const Text = Type.String({ maxLength: 4096 });
const Time = Type.String({ maxLength: 64 });
const Reason = Type.Union([Text, Type.Null()]);

/** Prose nests it, served data has it flat. */
const lifecycle = {
  publishedAt: Type.Optional(Time),
  integrity: Type.Optional(Text),
  tarballSha256: Type.Optional(Text),
  yanked: Type.Optional(
    Type.Union([Type.Boolean(), Type.Null(), Type.Object({ reason: Type.Optional(Reason) })]),
  ),
  yankedReason: Type.Optional(Reason),
  deprecated: Type.Optional(Type.Boolean()),
  deprecationReason: Type.Optional(Reason),
  supersededBy: Type.Optional(Reason),
  deprecation: Type.Optional(
    Type.Object({
      deprecated: Type.Optional(Type.Boolean()),
      reason: Type.Optional(Reason),
      supersededBy: Type.Optional(Reason),
    }),
  ),
};
const Lifecycle = Type.Object(lifecycle);
type Lifecycle = Static<typeof Lifecycle>;

const Latest = Type.Optional(Type.String({ maxLength: 128 }));
const Index = Type.Object({
  versions: Type.Union([
    Type.Array(Type.Object({ version: Text, ...lifecycle }), { maxItems: VERSIONS_MAX }),
    Type.Record(Type.String(), Lifecycle, { maxProperties: VERSIONS_MAX }),
  ]),
  latest: Latest,
  'dist-tags': Type.Optional(Type.Object({ latest: Latest })),
});

const RegistryIndex = Type.Object({
  packs: Type.Array(Type.Object({ name: Type.String({ maxLength: 256 }) }), { maxItems: PACKS_MAX }),
});

const Ranges = Type.Record(Type.String({ maxLength: 256 }), Type.String({ minLength: 1, maxLength: 128 }), {
  maxProperties: 200,
});
const Served = Type.Object({
  name: Type.Optional(Text),
  version: Type.Optional(Text),
  ...lifecycle,
  signing: Type.Optional(Signing),
  dependencies: Type.Optional(Ranges),
  peerDependencies: Type.Optional(Ranges),
  runtime: Type.Optional(
    Type.Object({
      requires: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 })),
    }),
  ),
});
type ServedManifest = Static<typeof Served>;

const Template = Type.Optional(Type.String({ maxLength: 2048 }));
const Discovery = Type.Object({
  url: Template,
  endpoints: Type.Optional(
    Type.Object({
      registryIndex: Template,
      packMetadata: Template,
      versionManifest: Template,
      versionTarball: Template,
      versionSignature: Template,
    }),
  ),
  signingKeys: Type.Optional(
    Type.Array(
      Type.Object({
        keyId: Type.String({ maxLength: 256 }),
        publicKeyUrl: Type.String({ maxLength: 2048 }),
        permittedNamespaces: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1000 }),
        status: Type.Enum(['active', 'retired', 'revoked']),
        validFrom: Type.Optional(Time),
        validUntil: Type.Optional(Time),
      }),
      { maxItems: KEYS_MAX },
    ),
  ),
});
export type Discovery = Static<typeof Discovery>;

const Keychain = Type.Object({
  namespace: Type.String({ maxLength: 256 }),
  keys: Type.Array(KeychainKey, { maxItems: KEYS_MAX }),
});
export type Keychain = Frozen<Static<typeof Keychain>>;

/** Reads documents of one shape; undefined for any other. The schema is compiled at first use. */
function reader<T extends TSchema>(schema: T): (bytes: Uint8Array) => Static<T> | undefined {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (bytes) => {
    compiled ??= Compile(schema);
    const value = jsonOf(bytes);
    // The generic validator forgets what it checked.
    return compiled.Check(value) ? (value as Static<T>) : undefined;
  };
}

export const readDiscovery = reader(Discovery);
export const readKeychain = reader(Keychain);
export const readServed = reader(Served);
const readIndex = reader(Index);
const readRegistryIndex = reader(RegistryIndex);

/** The names of all packs, without what is no name. */
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
    // A version that cannot be ordered is left out.
    versions: listed.filter(({ version }) => isVersion(version)).map(indexedVersion),
    ...given({ latest }),
  };
}

function indexedVersion(entry: Lifecycle & { version: string }): IndexedVersion {
  const integrity = entry.integrity ?? entry.tarballSha256;
  return { version: entry.version, ...given({ integrity }), ...standing(entry) };
}

/** The served manifest of a version, or `pack_manifest_invalid` with what is wrong. */
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

/** When it was published, and whether it is withdrawn or replaced. */
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
