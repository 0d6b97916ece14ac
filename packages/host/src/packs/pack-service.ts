/** Operations on packs for callers. */
import { limiter } from '@gantry/limiter';
import { covers, describePermission, readArchive, surfaceGrant } from '@gantry/packs';
import {
  capabilityAt,
  type InstalledPack,
  invalid,
  OpenwopError,
  type PackDetail,
  type PackPlanResult,
  type PackReceipts,
  surfacesNamedBy,
  type WorkflowPacks,
} from '@gantry/protocol';
import type { IdempotencyRecord } from '@gantry/store';
import { inTurn } from '../turns.ts';
import { SHARED } from '../workflows/shared.ts';
import { missingClients } from './connections/node-auth.ts';
import { givenBy, grantWrite, historyOf } from './grants.ts';
import { type InstallerOptions, type InstallPlan, installPlan, type PlanOutcome } from './installer.ts';
import { manifestOf } from './judged-pack.ts';
import { refuseNeeded } from './needed-packs.ts';
import { GRANTABLE } from './offer.ts';
import { type PlanRequest, preparePlan } from './pack-plan.ts';
import type { PackRecord } from './pack-record.ts';
import { type PackRecords, removalWrites, type StoredPack } from './pack-records.ts';
import { changedSet, decideOnSet, expectedSet, type PackSet, readSet } from './pack-set.ts';
import { surfacesOf } from './pack-surfaces.ts';
import type { Receipts } from './receipts.ts';
import type { RegistryPacks } from './registry-packs.ts';
import { type TrustModes, trustModes } from './trust.ts';
import { pinsIn } from './workflow-pins.ts';

/** Concurrent plans: the archives of each are in memory together. */
const PLANS_MAX = 2;
const WAITING_PER_TENANT_MAX = 16;

export interface PackServiceOptions extends InstallerOptions {
  readonly receipts: Receipts;
  /** Capabilities that pack code can call here. */
  readonly surfaces: readonly string[];
  readonly registry: RegistryPacks;
  /** The names in the settings. */
  readonly registries: readonly string[];
  /** The installed packs changed, so the meaning of workflows may have changed. */
  readonly changed: () => void;
}

export interface PackAddress {
  readonly tenant: string;
  readonly name: string;
}

interface GrantingRequest {
  readonly tenant: string;
  /** Granted now, in addition to earlier grants. */
  readonly grant: readonly string[];
  readonly by: string;
}

/** An archive that a caller uploads. */
interface UploadRequest extends GrantingRequest {
  readonly archive: Uint8Array;
  /** Other bytes of the same version may replace it later. */
  readonly development?: boolean;
  /** It may replace a newer version. */
  readonly older?: boolean;
  /** As trusted as a folder of the operator: needs no signature, whatever its name. Only for conformance seams. */
  readonly isOwnFolder?: boolean;
}

interface RegistryRequest extends GrantingRequest {
  readonly name: string;
  /** Any version if missing. */
  readonly range?: string;
}

export interface Installed {
  /** False if the same bytes were installed already. */
  readonly changed: boolean;
  readonly record: PackRecord;
  readonly view: InstalledPack;
}

export class PackService {
  readonly #options: PackServiceOptions;
  readonly #records: PackRecords;
  readonly #turns = limiter({ max: PLANS_MAX, perTenantMax: 1, waitingPerTenantMax: WAITING_PER_TENANT_MAX });

  constructor(options: PackServiceOptions) {
    this.#options = options;
    this.#records = options.records;
  }

  /** Installs an archive with its dependencies. The grants are only for the archive. */
  async install(request: UploadRequest): Promise<Installed> {
    const { tenant, archive: bytes, development = false, older = false, isOwnFolder, grant, by } = request;
    const manifest = manifestOf(await readArchive(bytes));
    const source = isOwnFolder ? 'folder' : 'archive';
    const upload = { manifest, candidate: { bytes, source, development } } as const;
    const grants = { [manifest.name]: grant };
    const { installed, changed } = await this.#planned({ tenant, by, roots: [], upload, older, grants });
    const record = installed.at(-1);
    if (!record) throw new Error('a plan with an archive installs it');
    return { changed, record, view: await this.#view(tenant, { tenant, record }) };
  }

  /** Installs packs from the registries with their dependencies: all of them or none. */
  async installPlan(request: PlanRequest): Promise<PackPlanResult> {
    const { tenant } = request;
    const { installed, present } = await this.#planned(request);
    const serving = await this.#records.serving(tenant);
    return {
      installed: await Promise.all(installed.map((record) => this.#view(tenant, { tenant, record }))),
      present: await Promise.all(
        present.map(async (pack) => ({
          ...(await this.#view(tenant, pack)),
          serving: serving.get(pack.record.name)?.record.version ?? pack.record.version,
        })),
      ),
    };
  }

  /** Installs one pack by name, with its dependencies. The grants are only for the pack. */
  async installNamed(request: RegistryRequest): Promise<Omit<Installed, 'record'>> {
    const { tenant, by, name, range = '*', grant } = request;
    const roots = [{ name, range, requestedBy: 'the request' }];
    const { installed, present } = await this.installPlan({ tenant, by, roots, grants: { [name]: grant } });
    const view = [...installed, ...present].find((pack) => pack.name === name);
    if (!view) throw new Error(`${name} is not in its own resolution`);
    return { changed: installed.includes(view), view };
  }

  #planned(request: PlanRequest) {
    return inTurn(this.#turns, request.tenant, async () => {
      let present: readonly StoredPack[] = [];
      const outcome = await this.run(request.tenant, async () => {
        const prepared = await preparePlan(this.#options, request);
        present = prepared.present;
        return prepared.plan;
      });
      return { ...outcome, present };
    });
  }

  async run(tenant: string, prepare: () => Promise<InstallPlan>): Promise<PlanOutcome> {
    const outcome = await installPlan(this.#options, tenant, prepare);
    this.#options.changed();
    return outcome;
  }

  /**
   * Installs missing packs that a workflow pins from the registry, if pins decide: in mode `pinned`, and if signatures
   * have to cover files. There the pins of a workflow count like the operator's. This grants nothing.
   */
  async installPinned(tenant: string, packs: WorkflowPacks, by: string): Promise<void> {
    const { registries } = await this.trustModes();
    const { demands } = await this.#options.trust();
    if (demands !== 'files' && !registries.some(({ mode }) => mode === 'pinned')) return;
    const pins = pinsIn(packs);
    const visible = await this.#records.installed(tenant);
    const roots = pins
      .filter(({ name, integrity }) =>
        visible.every(({ record }) => record.name !== name || record.integrity !== integrity),
      )
      .map(({ name, version }) => ({ name, range: version, requestedBy: 'the workflow' }));
    if (roots.length > 0) await this.installPlan({ tenant, by, roots, grants: {}, pins });
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

  /** Grants exactly this from now on, also to active runs. */
  async grant(address: PackAddress, requires: readonly string[], by: string): Promise<PackDetail> {
    const grantable = givenBy(address.tenant, GRANTABLE);
    if (!requires.every((id) => grantable.includes(id)))
      throw invalid(
        `Only these can be granted here: ${grantable.join(', ')}. env.read is the operator's to grant: name the pack in GANTRY_PACK_ENV.`,
        { path: '/requires' },
      );
    const { tenant, name } = address;
    const set = await readSet(this.#records, tenant);
    const [current] = await this.#find(address);
    const before = await this.#records.grant(tenant, name);
    const wanted = [...new Set(requires)].sort();
    const { version, integrity } = current!.record;
    const held = { tenant, name, version, integrity, requires: wanted };
    const granting = { ...held, narrows: true, by, now: this.#options.now() };
    const writes = grantWrite(granting, before);
    if (writes.length > 0) {
      const [result] = await this.#options.store.commit([[...writes, expectedSet(set)]]);
      if (!result?.won)
        throw new OpenwopError('conflict', {
          message: 'The pack or its grant changed meanwhile. Read it again.',
        });
    }
    return this.detail(address);
  }

  /**
   * New runs no longer find it; runs that are pinned to it continue. `record` is the answer to a repeat of the request;
   * returns false if another request wrote it first.
   */
  async remove(
    address: PackAddress,
    version: string | undefined,
    record?: IdempotencyRecord,
  ): Promise<boolean> {
    const isFirst = await decideOnSet(this.#records, address.tenant, (set) =>
      this.#tryRemove(address, version, { set, record }),
    );
    if (isFirst) this.#options.changed();
    return isFirst;
  }

  /** Undefined if another request wrote in between. */
  async #tryRemove(
    { tenant, name }: PackAddress,
    version: string | undefined,
    { set, record }: { readonly set: PackSet; readonly record: IdempotencyRecord | undefined },
  ): Promise<boolean | undefined> {
    const leaving = (await this.#find({ tenant, name })).filter(
      (pack) => pack.tenant === tenant && (version ?? pack.record.version) === pack.record.version,
    );
    if (leaving.length === 0)
      throw new OpenwopError('not_found', {
        message: `${name} is not installed by you as this version. Shared packs are removed in the settings of the host.`,
      });
    const removed = leaving.map((pack) => pack.record);
    await refuseNeeded(this.#records, { tenant, name }, removed);
    const now = this.#options.now();
    const writes = await removalWrites(this.#records, tenant, removed, { now });
    if (record) writes.push({ kind: 'idempotency', record, now });
    const [result] = await this.#options.store.commit([[...writes, ...changedSet(set, now)]]);
    if (result?.won === false && writes[result.write]?.kind === 'idempotency') return false;
    return result?.won ? true : undefined;
  }

  async receipts(address: PackAddress): Promise<PackReceipts> {
    const [current] = await this.#find(address);
    const { tenant, name } = address;
    const granted = [...(await this.#records.granted(tenant, current!.record))];
    const receipts = await this.#options.receipts.of(tenant, name);
    const used = [...new Set(receipts.flatMap(({ primitives }) => Object.keys(primitives)))].sort();
    const paths = receipts.flatMap(({ surfaces }) => Object.keys(surfaces));
    const called = new Set(surfacesNamedBy(paths.map(capabilityAt)).map(surfaceGrant));
    const isUsed = (grant: string): boolean => called.has(grant) || used.some((id) => covers(grant, id));
    const unused = receipts.length === 0 ? [] : granted.filter((grant) => !isUsed(grant));
    return { name, granted, used, unused, receipts };
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
    const warnings = [...record.warnings, ...(await missingClients(this.#records, tenant, version))];
    return { ...record, warnings, granted, ...(surfaces && { surfaces }), shared: owner === SHARED };
  }
}
