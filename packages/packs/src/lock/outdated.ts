import { given } from '@gantry/protocol';
import { type GrantDifference, grantDifference } from '../install/permission.ts';
import { inTurns, type Registries } from '../registry/registries.ts';
import type { Registry, VersionManifest } from '../registry/registry.ts';
import { type Candidate, candidatesOf, type Range, readRange, suits } from '../resolve/range.ts';
import type { Root } from '../resolve/resolve.ts';
import { exposures } from '../trust/advisory.ts';
import type { RegistryRecord } from '../trust/judge-trust.ts';
import type { LockedPack, PackLock } from './lockfile.ts';

export interface OutdatedPack {
  readonly name: string;
  readonly current: string;
  /** The highest version that satisfies all current requests. */
  readonly wanted: string;
  /** The highest version, without withdrawn ones and prereleases. */
  readonly latest: string;
  /** For the current version. */
  readonly yanked?: NonNullable<RegistryRecord['yanked']>;
  readonly deprecated?: NonNullable<RegistryRecord['deprecated']>;
  readonly advisories: readonly {
    readonly id: string;
    readonly severity: string;
    readonly fixedIn?: string;
  }[];
  /** The permissions that the wanted version adds and drops. */
  readonly permissions: GrantDifference;
}

interface Listed {
  readonly entry: LockedPack;
  readonly registry: Registry;
  readonly candidates: readonly Candidate[];
  readonly latest: string | undefined;
  readonly manifest: VersionManifest | undefined;
}

/** Compares every locked pack with its registry. Packs that no registry has any more are omitted. */
export async function outdated(
  lock: PackLock,
  roots: readonly Root[],
  registries: Registries,
): Promise<OutdatedPack[]> {
  const listed = (await inTurns(lock.packs, (entry) => listedOf(entry, registries))).flat();
  const ranges = rangesOf(roots, listed);
  return inTurns(listed, (pack) => standingOf(pack, ranges.get(pack.entry.name) ?? []));
}

async function listedOf(entry: LockedPack, registries: Registries): Promise<Listed[]> {
  const found = await registries.index(entry.name);
  if (found === undefined) return [];
  const { registry, index } = found;
  const manifest = await registry.manifest(entry.name, entry.version);
  return [{ entry, registry, candidates: candidatesOf(index.versions), latest: index.latest, manifest }];
}

/** The ranges requested for each pack, by the roots and by the locked versions of other packs. */
function rangesOf(roots: readonly Root[], listed: readonly Listed[]): Map<string, Range[]> {
  const ranges = new Map<string, Range[]>();
  const add = (name: string, text: string): void => {
    const range = readRange(text);
    if (range !== undefined) ranges.set(name, [...(ranges.get(name) ?? []), range]);
  };
  for (const { name, range } of roots) add(name, range);
  for (const { manifest } of listed)
    for (const [name, range] of Object.entries(manifest?.dependencies ?? {})) add(name, range);
  return ranges;
}

async function standingOf(pack: Listed, ranges: readonly Range[]): Promise<OutdatedPack> {
  const { entry, registry, candidates, manifest } = pack;
  const { name, version: current } = entry;
  const fits = candidates.find((candidate) => ranges.every((range) => suits(range, candidate)));
  const wanted = ranges.length === 0 ? current : (fits?.version ?? current);
  const next = wanted === current ? manifest : await registry.manifest(name, wanted);
  const record = candidates.find(({ version }) => version === current);
  const exposed = exposures({ name, version: current }, await registry.advisories());
  return {
    name,
    current,
    wanted,
    latest: latestOf(pack) ?? current,
    ...given({ yanked: record?.yanked, deprecated: record?.deprecated }),
    advisories: exposed.map(({ advisory: { id, severity }, fixedIn }) => given({ id, severity, fixedIn })),
    permissions: grantDifference(manifest?.requires ?? [], next?.requires ?? []),
  };
}

function latestOf({ candidates, latest }: Listed): string | undefined {
  const offered = candidates.filter(({ yanked }) => yanked === undefined);
  const tagged = offered.find(({ version }) => version === latest);
  return (tagged ?? offered.find(({ semver }) => semver.prerelease.length === 0) ?? offered[0])?.version;
}
