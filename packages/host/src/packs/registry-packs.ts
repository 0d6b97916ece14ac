/** Packs from the registries of the settings: resolves the versions of a plan, and fetches them. */
import path from 'node:path';
import type { EgressByPurpose } from '@gantry/egress';
import {
  checkLocked,
  checkOverrides,
  type FetchedPack,
  fetchLocked,
  fetchPack,
  type InstalledVersion,
  type InstallStep,
  installOrder,
  installPlan,
  type LockedContent,
  openRegistry,
  type PackLock,
  Registries,
  type Registry,
  type Root,
  readArchive,
  resolvePacks,
  sameRegistry,
} from '@gantry/packs';
import { invalid, OpenwopError } from '@gantry/protocol';
import type { Settings } from '../settings.ts';
import { type Candidate, manifestOf } from './judged-pack.ts';
import type { Offer } from './offer.ts';
import type { PackRecord } from './pack-record.ts';
import { type HostTrust, ofRegistry, type RegistryProof } from './trust.ts';

/** The archives of one plan are in memory together. */
const PLAN_BYTES_MAX = 256 * 1024 * 1024;

/** A version chosen by a range or the lockfile. */
export interface ChosenPack extends Pick<PackRecord, 'name' | 'version' | 'integrity'> {
  /** Exactly this version was requested. */
  readonly isExact: boolean;
}

export interface Wanted {
  readonly roots: readonly Root[];
  /** Its versions take precedence over ranges; its integrities pin the bytes. */
  readonly lock?: PackLock | undefined;
  /** Only packs in the lockfile. */
  readonly isFrozen?: boolean | undefined;
  /** The serving versions, by name. */
  readonly installed: ReadonlyMap<string, InstalledVersion>;
  readonly unverified?: boolean | undefined;
}

export interface Choice {
  /** The versions for the roots and all their dependencies, dependencies first. */
  readonly packs: readonly ChosenPack[];
  /** Dependencies whose installed version stays. */
  readonly kept: readonly { readonly name: string; readonly version: string }[];
  fetch(packs: readonly ChosenPack[]): Promise<readonly Candidate[]>;
  /** Checks an installed pack against the lockfile. Called before `fetch`. */
  check(present: ChosenPack, bytes: () => Promise<Uint8Array>): Promise<void>;
}

/** Opens the registries in their current state: keys and advisories are not cached. */
export type RegistryPacks = (wanted: Wanted, only?: readonly string[]) => Promise<Choice>;

export interface RegistryPacksOptions {
  readonly settings: Pick<Settings, 'registries' | 'registryMirrors' | 'registryKey'>;
  readonly egress: EgressByPurpose;
  readonly trust: () => Promise<HostTrust>;
  readonly offer: Offer;
}

const NOTHING: Choice = { packs: [], kept: [], fetch: async () => [], check: async () => undefined };

export const registryPacks =
  ({ settings, egress, trust, offer }: RegistryPacksOptions): RegistryPacks =>
  async (wanted, only) => {
    const { lock, roots, isFrozen = false, installed } = wanted;
    const isAsking = [...installed.values()].some(
      ({ isNew, dependencies = {} }) => isNew && Object.keys(dependencies).length > 0,
    );
    // Uploads to a host without a registry come in any order, so none is refused for its dependencies.
    if (roots.length === 0 && !(isAsking && settings.registries.length > 0)) return NOTHING;
    const named = namedRegistries(settings.registries, only);
    const known = await trust();
    const opened = await Promise.all(
      named.map((name) =>
        openRegistry(name, {
          egress,
          roots: ofRegistry(known, name)?.keys,
          // The other registries may have other owners
          key: name === settings.registries[0] ? settings.registryKey : undefined,
          mirrorOf: settings.registryMirrors.get(name.replace(/\/+$/, '')),
        }),
      ),
    );
    // The trust file uses the names of registries in the settings.
    const names = new Map(opened.map((registry, index) => [registry, named[index] ?? registry.url]));
    const registries = new Registries({ registries: opened });
    const isListed = (name: string): boolean => lock?.packs.some((pack) => pack.name === name) ?? false;
    return lock && (isFrozen || roots.every(({ name }) => isListed(name)))
      ? locked(wanted, { registries, names, offer, lock })
      : resolved(wanted, { registries, names });
  };

function namedRegistries(all: readonly string[], only: readonly string[] | undefined): readonly string[] {
  const isSame = (one: string, other: string): boolean => sameRegistry(located(one), located(other));
  const unknown = only?.find((name) => !all.some((one) => isSame(one, name)));
  if (unknown !== undefined)
    throw new OpenwopError('capability_not_provided', {
      message: `This host does not install from ${unknown}. Its registries: ${all.join(', ') || 'none'}. Start the host with GANTRY_REGISTRY_URL set to it too, or install the archive itself.`,
      details: { capability: 'packRegistry', registry: unknown },
    });
  if (all.length === 0)
    throw new OpenwopError('capability_not_provided', {
      message:
        'Packs by name come from a registry, and this host has none. Name one with GANTRY_REGISTRY_URL.',
      details: { capability: 'packRegistry' },
    });
  return only ? all.filter((name) => only.some((one) => isSame(one, name))) : all;
}

/** A folder may be written in several ways. */
const located = (name: string): string => (/^[a-z]+:/i.test(name) ? name : path.resolve(name));

interface Opened {
  readonly registries: Registries;
  readonly names: ReadonlyMap<Registry, string>;
}

async function resolved(wanted: Wanted, { registries, names }: Opened): Promise<Choice> {
  const { roots, lock, installed } = wanted;
  const pins = new Map(lock?.packs.map(({ name, version }) => [name, version]));
  const { packs, kept } = await resolvePacks({ roots, registries, installed, pins });
  const steps = installOrder(packs).map(({ name, version, registry: url, record, isExact }): Step => {
    const registry = registries.all.find((one) => one.url === url);
    if (!registry) throw new Error(`${name} was resolved from ${url}, which was not asked`);
    const entry = lock?.packs.find((one) => one.name === name && one.version === version);
    const from = { registry, name, version, lockedIntegrity: entry?.integrity };
    const integrity = entry?.integrity ?? record.integrity;
    const isLocked = entry !== undefined;
    return { name, version, integrity, isExact, isLocked, registry, fetch: () => fetchPack(from) };
  });
  return {
    packs: steps,
    kept,
    fetch: (missing) => fetchAll(chosenOf(steps, missing), names, wanted),
    check: async () => undefined,
  };
}

/** Frozen: nothing is resolved, and packs that do not match the lockfile are refused before anything is fetched. */
async function locked(
  wanted: Wanted,
  { registries, names, offer, lock }: Opened & { readonly offer: Offer; readonly lock: PackLock },
): Promise<Choice> {
  const plan = installPlan(lock, wanted.roots, registries);
  const manifests: FetchedPack['manifest'][] = [];
  const judge = async (step: InstallStep, content: LockedContent): Promise<readonly string[]> => {
    manifests.push(content.manifest);
    return checkLocked(step, content, await offer(withPeers(content.manifest, step)));
  };
  const steps = plan.steps.map((step): Step => {
    const { name, version, registry, entry } = step;
    const warnings = [...step.warnings];
    const fetch = async (): Promise<FetchedPack> => {
      const fetched = await fetchLocked(step);
      warnings.push(...(await judge(step, fetched)));
      return fetched;
    };
    const pinned = { integrity: entry.integrity, isExact: true, isLocked: true };
    return { name, version, ...pinned, registry, warnings, fetch };
  });
  return {
    packs: steps,
    kept: [],
    async fetch(missing) {
      const candidates = await fetchAll(chosenOf(steps, missing), names, wanted);
      checkOverrides(plan, wanted.roots, manifests);
      return candidates;
    },
    async check({ name }, read) {
      const step = plan.steps.find((one) => one.name === name);
      const bytes = await read();
      const archive = await readArchive(bytes);
      if (step) await judge(step, { bytes, archive, manifest: manifestOf(archive) });
    },
  };
}

/** The offer depends on the manifest; the entry of a lockfile may have more peers. */
const withPeers = <T extends FetchedPack['manifest']>(manifest: T, { entry }: InstallStep): T => ({
  ...manifest,
  peerDependencies: { ...entry.peerDependencies, ...manifest.peerDependencies },
});

interface Step extends ChosenPack {
  readonly isLocked: boolean;
  readonly registry: Registry;
  /** Complete once it was fetched. */
  readonly warnings?: readonly string[];
  readonly fetch: () => Promise<FetchedPack>;
}

const chosenOf = (steps: readonly Step[], missing: readonly ChosenPack[]): Step[] =>
  steps.filter(({ name }) => missing.some((one) => one.name === name));

async function fetchAll(
  steps: readonly Step[],
  names: ReadonlyMap<Registry, string>,
  { unverified = false }: Wanted,
): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  let bytesLeft = PLAN_BYTES_MAX;
  for (const { isExact, isLocked, registry, warnings, fetch } of steps) {
    const { bytes, served, detachedSignature, keys, advisories } = await fetch();
    bytesLeft -= bytes.length;
    if (bytesLeft < 0)
      throw invalid(
        `The packs of a plan have at most ${PLAN_BYTES_MAX} bytes together. Install them in several steps.`,
      );
    const proof: RegistryProof = {
      url: names.get(registry) ?? registry.url,
      record: served.record,
      keys,
      advisories,
      isExact,
      isLocked,
      asUpload: unverified,
      signing: served.signing,
      detachedSignature,
    };
    candidates.push({
      bytes,
      source: 'archive',
      development: false,
      registry: proof,
      ...(warnings && { warnings }),
    });
  }
  return candidates;
}
