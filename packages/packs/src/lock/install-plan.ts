import { OpenwopError } from '@gantry/protocol';
import { refusalError, refusePeers } from '../install/install-gate.ts';
import { type HostOffer, judgePeers } from '../install/peer-dependencies.ts';
import type { PackManifest } from '../manifest/kinds.ts';
import { type FetchedPack, fetchPack } from '../registry/fetch-pack.ts';
import type { Registries } from '../registry/registries.ts';
import type { Registry } from '../registry/registry.ts';
import { uselessOverride } from '../resolve/failure.ts';
import { installOrder } from '../resolve/install-order.ts';
import { readRange } from '../resolve/range.ts';
import type { Root } from '../resolve/resolve.ts';
import { checkLockedSignature } from './lock-of.ts';
import type { LockedPack, PackLock } from './lockfile.ts';

export interface InstallStep {
  readonly name: string;
  readonly version: string;
  readonly registry: Registry;
  readonly entry: LockedPack;
  /** Requests that the pinned version does not satisfy, as text. */
  readonly warnings: readonly string[];
}

export interface InstallPlan {
  readonly overrides: Readonly<Record<string, string>>;
  /** Dependencies first. Packs that are not reachable from a root are omitted. */
  readonly steps: readonly InstallStep[];
}

/**
 * A frozen install: exactly the versions of the lockfile, whatever the ranges are. Nothing is resolved or fetched
 * here, so an unsuitable lockfile is refused before any download.
 */
export function installPlan(lock: PackLock, roots: readonly Root[], registries: Registries): InstallPlan {
  const overrides = lock.overrides ?? {};
  refuseContradiction(lock.packs, overrides);
  const steps = installOrder(reached(roots, lock.packs)).map((entry) => ({
    name: entry.name,
    version: entry.version,
    registry: registryOf(entry, lock, registries),
    entry,
    warnings: roots.filter(({ name }) => name === entry.name).flatMap((root) => outside(root, entry.version)),
  }));
  return { overrides, steps };
}

/** Fetches one step. `checkLocked` and the trust policy check it afterwards. */
export const fetchLocked = ({ name, version, registry, entry }: InstallStep): Promise<FetchedPack> =>
  fetchPack({ registry, name, version, lockedIntegrity: entry.integrity });

/** A fetched or already installed pack: the same rules apply to both. */
export type LockedContent = Pick<FetchedPack, 'bytes' | 'archive' | 'manifest'>;

/**
 * Checks the content of a pack against the lockfile, and the host against the requirements of its entry. Returns
 * the pins of its dependencies that are outside the ranges in its manifest.
 */
export function checkLocked(
  { entry }: Pick<InstallStep, 'entry'>,
  content: LockedContent,
  offer: HostOffer,
): readonly string[] {
  const { bytes, manifest, archive } = content;
  const isManual = manifest.signing !== undefined && manifest.signing.method !== 'ed25519';
  checkLockedSignature(entry, { bytes, manifestBytes: archive.manifestBytes, isManual });
  checkPeers(manifest, entry, offer);
  return checkDependencies(manifest, entry);
}

/** An override must satisfy at least one of the requested ranges of its pack. */
export function checkOverrides(
  { overrides, steps }: InstallPlan,
  roots: readonly Root[],
  manifests: readonly Pick<PackManifest, 'name' | 'version' | 'dependencies'>[],
): void {
  const asked = [
    ...roots,
    ...manifests.flatMap(({ name: parent, version, dependencies = {} }) =>
      Object.entries(dependencies).map(([name, range]) => ({
        name,
        range,
        requestedBy: `${parent}@${version}`,
      })),
    ),
  ];
  for (const { name, version } of steps.filter((step) => Object.hasOwn(overrides, step.name))) {
    const askers = asked.filter((one) => one.name === name);
    if (askers.some(({ range }) => readRange(range)?.range.test(version))) continue;
    const described = askers.map((one) => ({ ...one, chain: [one.requestedBy] }));
    throw uselessOverride(name, version, described);
  }
}

/** An override is the version of its pack, so an entry with another version is a contradiction. */
function refuseContradiction(packs: readonly LockedPack[], overrides: InstallPlan['overrides']): void {
  const wrong = packs.find(
    ({ name, version }) => Object.hasOwn(overrides, name) && overrides[name] !== version,
  );
  if (wrong === undefined) return;
  const { name, version } = wrong;
  throw new OpenwopError('pack_lockfile_invalid', {
    message: `The lockfile lists ${name}@${version}, and its overrides pin ${name} to ${overrides[name]}. Create the lockfile again.`,
    details: { packName: name, version, override: overrides[name] ?? '' },
  });
}

/** A pin outside its range still has precedence. */
const outside = ({ name, range, requestedBy }: Root, version: string): string[] =>
  readRange(range)?.range.test(version)
    ? []
    : [`The lockfile pins ${name} to ${version}, and ${requestedBy} asks for ${range.slice(0, 100)}.`];

/** The entries reachable from the roots. Each must exist in the version that its parents are pinned to. */
function reached(roots: readonly Root[], packs: readonly LockedPack[]): LockedPack[] {
  const listed = new Map(packs.map((entry) => [entry.name, entry]));
  const found = new Set<LockedPack>();
  const queue: { name: string; requestedBy: string; version?: string }[] = [...roots];
  // The loop also visits items that it pushes.
  for (const { name, requestedBy, version: pin } of queue) {
    const entry = listed.get(name);
    if (entry === undefined) throw incomplete(name, requestedBy);
    const { version, dependencies = {} } = entry;
    if (pin !== undefined && pin !== version)
      throw new OpenwopError('pack_lockfile_invalid', {
        message: `The lockfile lists ${name}@${version}, but pins it to ${pin} for ${requestedBy}. Create the lockfile again.`,
        details: { packName: name, version },
      });
    if (found.has(entry)) continue;
    found.add(entry);
    for (const [dependency, pinned] of Object.entries(dependencies))
      queue.push({ name: dependency, version: pinned, requestedBy: `${name}@${version}` });
  }
  return [...found];
}

/** By its `resolved` address, else the registry of the lockfile, else the first one here. */
function registryOf({ name, resolved }: LockedPack, lock: PackLock, registries: Registries): Registry {
  const address = resolved ?? lock.registry ?? registries.all[0]?.url;
  if (address === undefined)
    throw new OpenwopError('pack_fetch_failed', {
      message: `Neither the lockfile nor this installation says which registry ${name} comes from. Configure one.`,
      details: { packName: name },
    });
  return registries.of(name, address);
}

/** The manifest in the archive decides which dependencies a pack has; the lockfile decides their versions. */
function checkDependencies(
  { name: parent, version, dependencies = {} }: PackManifest,
  { dependencies: pins = {} }: LockedPack,
): string[] {
  const requestedBy = `${parent}@${version}`;
  return Object.entries(dependencies).flatMap(([name, range]) => {
    const pin = Object.hasOwn(pins, name) ? pins[name] : undefined;
    if (pin === undefined) throw incomplete(name, requestedBy);
    return outside({ name, range, requestedBy }, pin);
  });
}

function checkPeers(manifest: PackManifest, entry: LockedPack, offer: HostOffer): void {
  const peerDependencies = { ...entry.peerDependencies, ...manifest.peerDependencies };
  const { unmet } = judgePeers({ ...manifest, peerDependencies }, offer);
  const refusal = refusePeers(manifest, 'pack_peer_dependency_missing', unmet);
  if (refusal) throw refusalError([refusal]);
}

const incomplete = (name: string, requestedBy: string): OpenwopError =>
  new OpenwopError('pack_lockfile_incomplete', {
    message: `${requestedBy} asks for ${name}, which the lockfile does not list. Create the lockfile again, or stop asking for it.`,
    details: { packName: name, requestedBy },
  });
