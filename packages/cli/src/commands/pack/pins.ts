/** Versions that were chosen before stay, as long as they fit what is asked for now. */
import {
  type PackLock,
  Registries,
  type Registry,
  type Resolution,
  type ResolveOptions,
  resolvePacks,
} from '@gantry/packs';
import { type ErrorCode, type JsonObject, OpenwopError } from '@gantry/protocol';

/** Exact versions by name. */
export type Pins = ReadonlyMap<string, string>;

export const pinsOf = ({ packs }: Pick<PackLock, 'packs'>): Map<string, string> =>
  new Map(packs.map(({ name, version }) => [name, version]));

/** The registries as if only the pinned versions of these packs existed, so that every range is still judged. */
export function pinned(registries: Registries, pins: Pins): Registries {
  return new Registries({
    offline: registries.offline,
    registries: registries.all.map((registry) => ({
      ...asked(registry),
      index: (name) => only(registry, name, pins),
    })),
  });
}

const asked = (registry: Registry): Registry => ({
  url: registry.url,
  reach: registry.reach,
  index: (name) => registry.index(name),
  manifest: (name, version) => registry.manifest(name, version),
  archive: (name, version) => registry.archive(name, version),
  signature: (name, version) => registry.signature(name, version),
  keys: (name, keyId) => registry.keys(name, keyId),
  advisories: () => registry.advisories(),
});

async function only(registry: Registry, name: string, pins: Pins): ReturnType<Registry['index']> {
  const index = await registry.index(name);
  const versions = index?.versions.filter(({ version }) => version === pins.get(name)) ?? [];
  return index && versions.length > 0 ? { ...index, versions } : index;
}

const MISFITS: readonly ErrorCode[] = [
  'pack_dependency_conflict',
  'pack_dependency_cycle',
  'pack_version_not_found',
];
/** After so many tries all pins are let go: each try resolves everything. */
const TRIES_MAX = 20;

/** Resolves with the pins; those that stand in the way are let go, one obstacle after the other. */
export async function resolveNear(options: ResolveOptions & { readonly pins: Pins }): Promise<Resolution> {
  const { roots, overrides = {} } = options;
  const registries = remembering(options.registries);
  const pins = new Map([...options.pins].filter(([name]) => !Object.hasOwn(overrides, name)));
  for (let tries = 1; ; tries++) {
    try {
      return await resolvePacks({ roots, overrides, registries: pinned(registries, pins) });
    } catch (error) {
      if (pins.size === 0 || !(error instanceof OpenwopError) || !MISFITS.includes(error.code)) throw error;
      const obstacles = tries < TRIES_MAX ? obstaclesIn(error.details ?? {}, pins) : [];
      for (const name of obstacles) pins.delete(name);
      if (obstacles.length === 0) pins.clear();
    }
  }
}

/** The pack with the conflict; if it is not pinned, the pinned packs that require it. */
function obstaclesIn({ packName, requestedBy, conflictingRanges }: JsonObject, pins: Pins): string[] {
  if (typeof packName === 'string' && pins.has(packName)) return [packName];
  const ranges = Array.isArray(conflictingRanges)
    ? conflictingRanges
    : [{ requestedBy: requestedBy ?? null }];
  return ranges.flatMap((range) => {
    const asker =
      typeof range === 'object' && range !== null && 'requestedBy' in range ? range.requestedBy : '';
    const name = String(asker).split('@', 1)[0] ?? '';
    return pins.has(name) ? [name] : [];
  });
}

/** Several tries ask each registry once. */
function remembering(registries: Registries): Registries {
  return new Registries({ offline: registries.offline, registries: registries.all.map(remembered) });
}

function remembered(registry: Registry): Registry {
  const indexes = new Map<string, ReturnType<Registry['index']>>();
  const manifests = new Map<string, ReturnType<Registry['manifest']>>();
  return {
    ...asked(registry),
    index: (name) => once(indexes, name, () => registry.index(name)),
    manifest: (name, version) =>
      once(manifests, `${name}@${version}`, () => registry.manifest(name, version)),
  };
}

function once<T>(known: Map<string, T>, key: string, ask: () => T): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  const answer = ask();
  known.set(key, answer);
  return answer;
}
