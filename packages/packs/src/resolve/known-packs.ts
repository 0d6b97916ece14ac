import { OpenwopError } from '@gantry/protocol';
import type { FoundManifest, Registries } from '../registry/registries.ts';
import type { Registry } from '../registry/registry.ts';
import { type Candidate, candidatesOf } from './range.ts';

/** A registry can lead from pack to pack without end. */
const PACKS_MAX = 10_000;

const keyOf = (name: string, version: string): string => `${name}@${version}`;

/** What the registries say about packs. Each index and manifest is fetched once. */
export class KnownPacks {
  readonly registries: Registries;
  readonly #owners = new Map<string, Registry>();
  readonly #candidates = new Map<string, readonly Candidate[]>();
  readonly #manifests = new Map<string, FoundManifest>();
  readonly #pins = new Set<string>();

  constructor(registries: Registries) {
    this.registries = registries;
  }

  /** Highest first. */
  candidates(name: string): readonly Candidate[] {
    return this.#candidates.get(name) ?? [];
  }

  manifest(name: string, version: string): FoundManifest {
    const found = this.#manifests.get(keyOf(name, version));
    if (found === undefined) throw new Error(`the manifest of ${name}@${version} is not loaded`);
    return found;
  }

  /** Loads the versions of a pack. A pinned version that the index lacks may be in a fallback registry. */
  async loadVersions(name: string, pins: readonly string[]): Promise<void> {
    if (!this.#candidates.has(name)) {
      if (this.#candidates.size >= PACKS_MAX) throw tooMany();
      this.#candidates.set(name, []);
      const found = await this.registries.index(name);
      if (found !== undefined) this.#owners.set(name, found.registry);
      this.#candidates.set(name, candidatesOf(found?.index.versions ?? []));
    }
    for (const version of pins) await this.#loadPin(name, version);
  }

  async #loadPin(name: string, version: string): Promise<void> {
    const known = this.candidates(name);
    if (this.#pins.has(keyOf(name, version)) || known.some((each) => each.version === version)) return;
    this.#pins.add(keyOf(name, version));
    const found = await this.registries.manifest(name, version);
    if (found === undefined) return;
    this.#manifests.set(keyOf(name, version), found);
    this.#candidates.set(name, candidatesOf([...known, { version, ...found.manifest.record }]));
  }

  /** Loads a manifest. Answers whether it says what the index did not: that the version is withdrawn. */
  async loadManifest(name: string, version: string): Promise<boolean> {
    if (this.#manifests.has(keyOf(name, version))) return false;
    const registry = this.#owners.get(name);
    const manifest = await registry?.manifest(name, version);
    if (registry === undefined || manifest === undefined)
      throw new OpenwopError('pack_version_not_found', {
        message: `${registry?.url ?? 'The registry'} lists ${name}@${version} but does not serve its manifest. Report it to the registry, or ask for another version.`,
        details: { packName: name, range: version, available: [] },
      });
    this.#manifests.set(keyOf(name, version), { registry, manifest });
    const { yanked } = manifest.record;
    const listed = this.candidates(name);
    if (yanked === undefined || listed.some((each) => each.version === version && each.yanked)) return false;
    this.#candidates.set(
      name,
      listed.map((each) => (each.version === version ? { ...each, yanked } : each)),
    );
    return true;
  }
}

const tooMany = (): OpenwopError =>
  new OpenwopError('pack_dependency_conflict', {
    message: `The dependencies lead to more than ${PACKS_MAX} packs. Ask for fewer, or pin packs in overrides.`,
    details: { packsMax: PACKS_MAX },
  });
