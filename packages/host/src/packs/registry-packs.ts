/** Packs from the registries that the settings name, in the shape that installing needs. */
import type { EgressByPurpose } from '@gantry/egress';
import {
  type FetchedPack,
  fetchLocked,
  fetchPack,
  installOrder,
  installPlan,
  openRegistry,
  Registries,
  type Registry,
  type Root,
  readLock,
  requiresOf,
  resolvePacks,
  surfaceAsks,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { type HostTrust, ofRegistry, type RegistryProof } from './trust.ts';

/** A version that a range, or the lockfile, stands for. */
export interface ChosenPack {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** Somebody asked for exactly this version. */
  readonly isExact: boolean;
  readonly dependencies: readonly string[];
  /** What it asks for, as far as that is known: what its code calls only once it was fetched. */
  readonly requires: readonly string[];
}

export interface ProvedPack {
  readonly archive: Uint8Array;
  readonly requires: readonly string[];
  readonly proof: RegistryProof;
}

/** Registries as they are now: what was read of their keys and advisories is not kept for later. */
export interface OpenRegistries {
  /** What the roots and all that they depend on stand for, dependencies first. */
  choose(roots: readonly Root[]): Promise<readonly ChosenPack[]>;
  /** The same from a lockfile; what does not fit it is refused before anything is fetched. */
  chooseLocked(lock: string, roots: readonly Root[]): Promise<readonly ChosenPack[]>;
  /** A pack that was chosen here. */
  fetch(pack: ChosenPack): Promise<ProvedPack>;
}

export type RegistryPacks = () => Promise<OpenRegistries>;

export interface RegistryPacksOptions {
  readonly registries: readonly string[];
  readonly egress: EgressByPurpose;
  readonly trust: () => Promise<HostTrust>;
}

export const registryPacks =
  ({ registries: named, egress, trust }: RegistryPacksOptions): RegistryPacks =>
  async () => {
    if (named.length === 0)
      throw new OpenwopError('capability_not_provided', {
        message:
          'Packs by name come from a registry, and this host has none. Name one with GANTRY_REGISTRY_URL.',
        details: { capability: 'packRegistry' },
      });
    const known = await trust();
    const opened = await Promise.all(
      named.map((name) => openRegistry(name, { egress, roots: ofRegistry(known, name)?.keys })),
    );
    const names = new Map(opened.map((registry, index) => [registry, named[index] ?? registry.url]));
    return new Chooser(new Registries({ registries: opened }), names);
  };

class Chooser implements OpenRegistries {
  readonly #registries: Registries;
  /** Trust speaks of registries by the names of the settings. */
  readonly #names: ReadonlyMap<Registry, string>;
  readonly #fetches = new Map<
    string,
    { registry: Registry; isLocked: boolean; fetch: () => Promise<FetchedPack> }
  >();

  constructor(registries: Registries, names: ReadonlyMap<Registry, string>) {
    this.#registries = registries;
    this.#names = names;
  }

  async choose(roots: readonly Root[]): Promise<readonly ChosenPack[]> {
    const { packs } = await resolvePacks({ roots, registries: this.#registries });
    return installOrder(packs).map(
      ({ name, version, record, isExact, dependencies, requires, registry: url }) => {
        const registry = this.#registries.all.find((one) => one.url === url);
        if (!registry) throw new Error(`${name} was resolved from ${url}, which was not asked`);
        const fetch = () => fetchPack({ registry, name, version });
        this.#fetches.set(name, { registry, isLocked: false, fetch });
        const { integrity } = record;
        return { name, version, integrity, isExact, requires, dependencies: Object.keys(dependencies) };
      },
    );
  }

  async chooseLocked(lock: string, roots: readonly Root[]): Promise<readonly ChosenPack[]> {
    const plan = installPlan(readLock(lock), roots, this.#registries);
    return plan.steps.map((step) => {
      const { name, version, registry, entry } = step;
      this.#fetches.set(name, { registry, isLocked: true, fetch: () => fetchLocked(step, plan) });
      const dependencies = Object.keys(entry.dependencies ?? {});
      return { name, version, integrity: entry.integrity, isExact: true, requires: [], dependencies };
    });
  }

  async fetch({ name, isExact }: ChosenPack): Promise<ProvedPack> {
    const chosen = this.#fetches.get(name);
    if (!chosen) throw new Error(`${name} is fetched and was not chosen`);
    const { bytes, archive, manifest, served, detachedSignature, keys, advisories } = await chosen.fetch();
    const url = this.#names.get(chosen.registry) ?? chosen.registry.url;
    return {
      archive: bytes,
      requires: [...requiresOf(manifest), ...surfaceAsks(manifest, archive.files).asks],
      proof: {
        url,
        record: served.record,
        keys,
        advisories,
        isExact,
        isLocked: chosen.isLocked,
        ...(served.signing && { signing: served.signing }),
        ...(detachedSignature && { detachedSignature }),
      },
    };
  }
}
