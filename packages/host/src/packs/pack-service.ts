/** What callers may do with packs. */
import {
  covers,
  describePermission,
  grantDifference,
  type PackPin,
  surfaceGrant,
  unmetRequirements,
} from '@gantry/packs';
import {
  type InstalledPack,
  OpenwopError,
  type PackDetail,
  type PackReceipts,
  type WorkflowPacks,
} from '@gantry/protocol';
import type { Store, Write } from '@gantry/store';
import { SHARED } from '../workflows/shared.ts';
import { endWrites, givenBy, grantWrite, historyOf } from './grants.ts';
import { type Installed, type InstallerOptions, type InstallRequest, installPack } from './installer.ts';
import { GRANTABLE } from './offer.ts';
import { packKey } from './pack-record.ts';
import type { PackRecords, StoredPack } from './pack-records.ts';
import { surfacesOf } from './pack-surfaces.ts';
import type { Receipts } from './receipts.ts';
import type { ChosenPack, OpenRegistries, RegistryPacks } from './registry-packs.ts';
import { type TrustModes, trustModes } from './trust.ts';
import { pinsIn } from './workflow-pins.ts';

export interface PackServiceOptions extends InstallerOptions {
  readonly store: Pick<Store, 'commit'>;
  readonly receipts: Receipts;
  /** Capabilities that pack code can call here. */
  readonly surfaces: readonly string[];
  readonly registry: RegistryPacks;
  /** As the settings name them. */
  readonly registries: readonly string[];
  /** What is installed changed: workflows may mean something else now. */
  readonly changed: () => void;
}

export interface PackAddress {
  readonly tenant: string;
  readonly name: string;
}

export interface RegistryRequest extends PackAddress {
  /** Any version without it. */
  readonly range?: string;
  readonly grant: readonly string[];
  /** Pins of the workflow that asks for it. */
  readonly pins?: readonly PackPin[];
  readonly by: string;
}

const ARCHIVED = { source: 'archive', development: false } as const;

export class PackService {
  readonly #options: PackServiceOptions;
  readonly #records: PackRecords;

  constructor(options: PackServiceOptions) {
    this.#options = options;
    this.#records = options.records;
  }

  async install(request: InstallRequest): Promise<Installed & { view: InstalledPack }> {
    const installed = await installPack(this.#options, request);
    this.#options.changed();
    const pack = { tenant: request.tenant, record: installed.record };
    return { ...installed, view: await this.#view(request.tenant, pack) };
  }

  /** A pack from the registry, with what it depends on. All is judged before the first is installed. */
  async installFromRegistry(request: RegistryRequest): Promise<Installed & { view: InstalledPack }> {
    const { tenant, name, range = '*', grant, pins = [], by } = request;
    const registry = await this.#options.registry();
    const chosen = await registry.choose([{ name, range, requestedBy: 'the request' }]);
    const root = chosen.find((pack) => pack.name === name);
    if (!root) throw new Error(`${name} is not in its own resolution`);
    await this.#requireGrants(request, chosen, registry);
    for (const pack of chosen) {
      if (pack === root || (await this.#has(tenant, pack))) continue;
      const { archive, proof } = await registry.fetch(pack);
      await this.install({ ...ARCHIVED, tenant, archive, registry: proof, grant: [], pins, by });
    }
    const { archive, proof } = await registry.fetch(root);
    return this.install({ ...ARCHIVED, tenant, archive, registry: proof, grant, pins, by });
  }

  /**
   * What a workflow pins and nobody installed comes from the registry where pins decide: in mode `pinned`, and where
   * signatures have to cover files. There the pins of a workflow count like the operator's. Nothing is granted by this.
   */
  async installPinned(tenant: string, packs: WorkflowPacks, by: string): Promise<void> {
    const { registries } = await this.trustModes();
    const { demands } = await this.#options.trust();
    if (demands !== 'files' && !registries.some(({ mode }) => mode === 'pinned')) return;
    const pins = pinsIn(packs);
    for (const { name, version, integrity } of pins)
      if (!(await this.#has(tenant, { name, integrity })))
        await this.installFromRegistry({ tenant, name, range: version, grant: [], pins, by });
  }

  async list(tenant: string): Promise<InstalledPack[]> {
    const installed = await this.#records.installed(tenant);
    return Promise.all(installed.map((pack) => this.#view(tenant, pack)));
  }

  async trustModes(): Promise<TrustModes> {
    return trustModes(await this.#options.trust(), this.#options.registries);
  }

  async detail(address: PackAddress): Promise<PackDetail> {
    const { tenant, name } = address;
    const versions = await Promise.all((await this.#find(address)).map((pack) => this.#view(tenant, pack)));
    const entry = (await this.#records.grant(tenant, name)) ?? (await this.#records.grant(SHARED, name));
    const ids = [...new Set(versions.flatMap(({ requires }) => requires))].sort();
    return {
      name,
      versions,
      permissions: ids.map((id) => ({ id, text: describePermission(id) })),
      grants: [...historyOf(entry)],
    };
  }

  /** Exactly this is granted from now on, also to runs under way. */
  async grant(address: PackAddress, requires: readonly string[], by: string): Promise<PackDetail> {
    const grantable = givenBy(address.tenant, GRANTABLE);
    if (!requires.every((id) => grantable.includes(id)))
      throw new OpenwopError('validation_error', {
        message: `Only these can be granted here: ${grantable.join(', ')}. env.read is the operator's to grant: name the pack in GANTRY_PACK_ENV.`,
        details: { path: '/requires' },
      });
    const [current] = await this.#find(address);
    const { tenant, name } = address;
    const before = await this.#records.grant(tenant, name);
    const wanted = [...new Set(requires)].sort();
    const { version, integrity } = current!.record;
    const held = { tenant, name, version, integrity, requires: wanted };
    const granting = { ...held, narrows: true, by, now: this.#options.now() };
    const writes = grantWrite(granting, before);
    if (writes.length > 0) {
      const [result] = await this.#options.store.commit([writes]);
      if (!result?.won)
        throw new OpenwopError('conflict', { message: 'The grant was just changed. Look at it again.' });
    }
    return this.detail(address);
  }

  /** New runs no longer find it; runs that are pinned to it go on. */
  async remove({ tenant, name }: PackAddress, version: string | undefined): Promise<void> {
    const own = (await this.#find({ tenant, name })).filter((pack) => pack.tenant === tenant);
    const leaving = own.filter(({ record }) => version === undefined || record.version === version);
    if (leaving.length === 0)
      throw new OpenwopError('not_found', {
        message: `${name} is not installed by you as this version. Shared packs leave with the settings of the host.`,
      });
    const entries = await Promise.all(
      leaving.map(({ record }) => this.#records.entry(packKey(tenant, name, record.version))),
    );
    const writes: Write[] = entries.flatMap((entry) =>
      entry ? [{ kind: 'deleteEntry' as const, key: entry, expectedVersion: entry.version }] : [],
    );
    if (leaving.length === own.length)
      writes.push(...endWrites(await this.#records.grant(tenant, name), this.#options.now()));
    const [result] = await this.#options.store.commit([writes]);
    if (!result?.won)
      throw new OpenwopError('conflict', { message: `${name} was just changed. Look at it again.` });
    this.#options.changed();
  }

  async receipts(address: PackAddress): Promise<PackReceipts> {
    const [current] = await this.#find(address);
    const { tenant, name } = address;
    const granted = [...(await this.#records.granted(tenant, current!.record))];
    const receipts = await this.#options.receipts.of(tenant, name);
    const used = [...new Set(receipts.flatMap(({ primitives }) => Object.keys(primitives)))].sort();
    const called = new Set(receipts.flatMap(({ surfaces }) => Object.keys(surfaces).map(surfaceGrant)));
    const isUsed = (grant: string): boolean => called.has(grant) || used.some((id) => covers(grant, id));
    const unused = receipts.length === 0 ? [] : granted.filter((grant) => !isUsed(grant));
    return { name, granted, used, unused, receipts };
  }

  /** The caller grants to the pack that it names; what another one needs is said by name. */
  async #requireGrants(
    request: RegistryRequest,
    chosen: readonly ChosenPack[],
    registry: OpenRegistries,
  ): Promise<void> {
    const { tenant } = request;
    for (const pack of chosen) {
      if (await this.#has(tenant, pack)) continue;
      const { name, version } = pack;
      const { requires } = await registry.fetch(pack);
      const before = givenBy(tenant, await this.#records.heldByName(tenant, name));
      const granted = name === request.name ? [...before, ...givenBy(tenant, request.grant)] : before;
      const unmet = unmetRequirements(requires, granted);
      if (unmet.length === 0) continue;
      const manifest = `${name}@${version}`;
      const { added, kept } = grantDifference(before, requires);
      const how = name === request.name ? 'Grant it' : `Install ${name} first, with that granted,`;
      throw new OpenwopError('pack_runtime_requirement_unmet', {
        message: `${manifest} needs platform access that is not granted here: ${unmet.join(', ')}. ${how} if you trust the pack with it.`,
        details: { manifest, unmet, added: [...added], granted: [...kept] },
      });
    }
  }

  async #has(tenant: string, { name, integrity }: Pick<ChosenPack, 'name' | 'integrity'>): Promise<boolean> {
    const versions = await this.#records.versionsOf(tenant, name);
    return versions.some(({ record }) => record.integrity === integrity);
  }

  async #find({ tenant, name }: PackAddress): Promise<StoredPack[]> {
    const found = await this.#records.versionsOf(tenant, name);
    if (found.length === 0) throw new OpenwopError('pack_not_found');
    return found;
  }

  async #view(tenant: string, { tenant: owner, record }: StoredPack): Promise<InstalledPack> {
    const granted = [...(await this.#records.granted(tenant, record))];
    const version = await this.#records.version(record.integrity);
    const surfaces = surfacesOf(version, this.#options.surfaces, granted);
    return { ...record, granted, ...(surfaces && { surfaces }), shared: owner === SHARED };
  }
}
