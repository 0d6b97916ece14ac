import { given, isoTime } from '@gantry/protocol';
import { inTurns, type Registries } from '../registry/registries.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resolution, ResolvedPack } from '../resolve/resolve.ts';
import { signatureToLock } from './lock-signature.ts';
import { LOCKFILE_VERSION, type LockedPack, PackLock } from './lockfile.ts';

/**
 * The lockfile of a resolution. `generatedAt` is the newest publication in it and not the time of day, so that the
 * same registries and the same requests give the same bytes at any time. Of a previous lockfile, what
 * this version does not know is kept.
 */
export async function lockOf(
  resolution: Resolution,
  registries: Registries,
  previous?: PackLock,
): Promise<PackLock> {
  const [primary, ...fallbacks] = registries.all;
  const byUrl = new Map(registries.all.map((registry) => [registry.url, registry]));
  const packs = await inTurns(resolution.packs, (pack) => lockedPack(pack, byUrl.get(pack.registry)));
  return {
    ...unknownOf(previous),
    lockfileVersion: LOCKFILE_VERSION,
    generatedAt: newest(resolution.packs),
    ...given({ registry: primary?.url }),
    ...(fallbacks.length > 0 && { fallbackRegistries: fallbacks.map(({ url }) => url) }),
    ...(Object.keys(resolution.overrides).length > 0 && { overrides: { ...resolution.overrides } }),
    packs,
  };
}

function unknownOf(previous: PackLock | undefined): object {
  const known = new Set(Object.keys(PackLock.properties));
  return Object.fromEntries(Object.entries(previous ?? {}).filter(([key]) => !known.has(key)));
}

async function lockedPack(pack: ResolvedPack, registry: Registry | undefined): Promise<LockedPack> {
  const { name, version, tarballUrl, record, dependencies, peerDependencies } = pack;
  const signature = registry && (await signatureToLock(pack, registry));
  return {
    name,
    version,
    resolved: tarballUrl,
    integrity: record.integrity,
    ...given({ signature }),
    dependencies: { ...dependencies },
    peerDependencies: { ...peerDependencies },
  };
}

function newest(packs: readonly ResolvedPack[]): string {
  const times = packs.map(({ record }) => Date.parse(record.publishedAt ?? '') || 0);
  return isoTime(times.reduce((latest, time) => Math.max(latest, time), 0));
}
