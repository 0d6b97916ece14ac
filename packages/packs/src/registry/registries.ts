import { OpenwopError } from '@gantry/protocol';
import type { PackIndex, Registry, VersionManifest } from './registry.ts';

export interface RegistriesOptions {
  /** The primary first, then the fallbacks in order. */
  readonly registries: readonly Registry[];
  /** Never ask over the network. */
  readonly offline?: boolean;
}

export interface FoundIndex {
  readonly registry: Registry;
  readonly index: PackIndex;
}

export interface FoundManifest {
  readonly registry: Registry;
  readonly manifest: VersionManifest;
}

/**
 * Registries in the order in which they are asked. A name belongs to the first that knows it, so a fallback cannot
 * slip in a higher version; only an exact version that this one lacks is looked for further on. A registry that does
 * not answer ends the search: otherwise its packs could come from another registry.
 */
export class Registries {
  readonly all: readonly Registry[];
  readonly offline: boolean;

  constructor({ registries, offline = false }: RegistriesOptions) {
    this.all = registries;
    this.offline = offline;
  }

  /** Those that may be asked now. */
  get asked(): readonly Registry[] {
    return this.offline ? this.all.filter(({ reach }) => reach === 'local') : this.all;
  }

  async index(name: string): Promise<FoundIndex | undefined> {
    // `local` packs are folders in development; one in a registry is ignored.
    if (name.startsWith('local.')) return undefined;
    for (const registry of this.asked) {
      const index = await registry.index(name);
      if (index !== undefined) return { registry, index };
    }
    return undefined;
  }

  /** The first registry that answers the manifest wins. */
  async manifest(name: string, version: string): Promise<FoundManifest | undefined> {
    if (name.startsWith('local.')) return undefined;
    for (const registry of this.asked) {
      const manifest = await registry.manifest(name, version);
      if (manifest !== undefined) return { registry, manifest };
    }
    return undefined;
  }

  /** The registry that an address in a lockfile lies in; an address elsewhere is not followed. */
  of(name: string, address: string): Registry {
    const isUnder = (url: string | undefined): boolean =>
      url !== undefined && (address === url || address.startsWith(`${url}/`));
    const under = this.all.filter(({ url, mirrorOf }) => isUnder(url) || isUnder(mirrorOf));
    const open = under.filter((registry) => this.asked.includes(registry));
    // The longest address wins where one registry is mounted below another.
    const [registry] = open.toSorted((left, right) => right.url.length - left.url.length);
    if (registry !== undefined) return registry;
    const [closed] = under;
    if (closed !== undefined)
      throw new OpenwopError('pack_version_not_found', {
        message: `${name} was locked from ${closed.url}, and offline mode is on. Copy the registry to a folder, or go online.`,
        details: { packName: name, registry: closed.url, offline: true, available: [] },
      });
    throw new OpenwopError('pack_fetch_failed', {
      message: `${name} was locked from ${address}, which is not one of the configured registries (${this.#names()}). Add that registry, say which of them is a mirror of it (GANTRY_REGISTRY_MIRRORS), or create the lockfile again.`,
      details: { packName: name, resolved: address },
    });
  }

  #names(): string {
    return this.all.map(({ url }) => url).join(', ') || 'none';
  }
}

const REQUESTS_AT_ONCE_MAX = 16;

/** Asks registries for many things, a few at a time. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += REQUESTS_AT_ONCE_MAX)
    results.push(...(await Promise.all(items.slice(at, at + REQUESTS_AT_ONCE_MAX).map(work))));
  return results;
}
