import { OpenwopError } from '@gantry/protocol';
import type { PackIndex, Registry, VersionManifest } from './registry.ts';

export interface FoundManifest {
  readonly registry: Registry;
  readonly manifest: VersionManifest;
}

/**
 * Registries in order of precedence. A name belongs to the first registry that has it, so a fallback cannot provide
 * a higher version. Only an exact version that this registry lacks is searched in later ones. A registry that does
 * not answer ends the search: otherwise its packs could come from another registry.
 */
export class Registries {
  /** The primary first, then the fallbacks in order. */
  readonly all: readonly Registry[];
  readonly offline: boolean;

  /** `offline`: no network access. */
  constructor({ registries, offline = false }: { registries: readonly Registry[]; offline?: boolean }) {
    this.all = registries;
    this.offline = offline;
  }

  /** The registries that may be used now. */
  get asked(): readonly Registry[] {
    return this.offline ? this.all.filter(({ reach }) => reach === 'local') : this.all;
  }

  async index(name: string): Promise<{ registry: Registry; index: PackIndex } | undefined> {
    const [registry, index] = await this.#first(name, (asked) => asked.index(name));
    return index && { registry, index };
  }

  /** The first registry with the manifest wins. */
  async manifest(name: string, version: string): Promise<FoundManifest | undefined> {
    const [registry, manifest] = await this.#first(name, (asked) => asked.manifest(name, version));
    return manifest && { registry, manifest };
  }

  async #first<T>(
    name: string,
    ask: (registry: Registry) => Promise<T | undefined>,
  ): Promise<[Registry, T] | [undefined?, undefined?]> {
    // `local` packs are folders in development; one in a registry is ignored.
    for (const registry of name.startsWith('local.') ? [] : this.asked) {
      const found = await ask(registry);
      if (found !== undefined) return [registry, found];
    }
    return [];
  }

  /** The registry that contains an address of a lockfile. An address elsewhere is not followed. */
  of(name: string, address: string): Registry {
    const isUnder = (url: string | undefined): boolean =>
      url !== undefined && (address === url || address.startsWith(`${url}/`));
    const under = this.all.filter(({ url, mirrorOf }) => isUnder(url) || isUnder(mirrorOf));
    // The longest address wins if one registry is mounted below another.
    const open = under.filter((registry) => this.asked.includes(registry));
    const [registry] = open.toSorted((left, right) => right.url.length - left.url.length);
    if (registry !== undefined) return registry;
    const [closed] = under;
    if (closed !== undefined)
      throw new OpenwopError('pack_version_not_found', {
        message: `${name} was locked from ${closed.url}, and offline mode is on. Copy the registry to a folder, or go online.`,
        details: { packName: name, registry: closed.url, offline: true, available: [] },
      });
    const names = this.all.map(({ url }) => url).join(', ') || 'none';
    throw new OpenwopError('pack_fetch_failed', {
      message: `${name} was locked from ${address}, which is not one of the configured registries (${names}). Add that registry, say which of them is a mirror of it (GANTRY_REGISTRY_MIRRORS), or create the lockfile again.`,
      details: { packName: name, resolved: address },
    });
  }
}

const REQUESTS_AT_ONCE_MAX = 16;

/** Runs many requests to registries, a few at a time. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += REQUESTS_AT_ONCE_MAX)
    results.push(...(await Promise.all(items.slice(at, at + REQUESTS_AT_ONCE_MAX).map(work))));
  return results;
}
