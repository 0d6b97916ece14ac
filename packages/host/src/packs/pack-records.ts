/** Reads the records of installed packs. */
import { listRecords, type RecordKind, readRecord, type Stored } from '@gantry/resources';
import type { Store, Write } from '@gantry/store';
import { SHARED } from '../workflows/shared.ts';
import { endWrites, type Grants, givenBy, grantedTo, type Holder, heldByAny, inherited } from './grants.ts';
import {
  labelOf,
  type PackRecord,
  packGrants,
  packs,
  packVersions,
  type VersionRecord,
} from './pack-record.ts';

/** Installed versions per tenant. */
export const PACKS_MAX = 1_000;
const VERSIONS_CACHED_MAX = 200;

export type StoredPack = Pick<Stored<PackRecord>, 'tenant' | 'record'>;

export class PackRecords {
  readonly #entries: Store['entries'];
  readonly #content: Store['records']['content'];
  /** Content never changes under its integrity, so the cache is never stale. */
  readonly #versions = new Map<string, VersionRecord>();
  readonly #listeners: (() => void)[] = [];

  constructor({ entries, records }: Pick<Store, 'entries' | 'records'>) {
    this.#entries = entries;
    this.#content = (hash) => records.content(hash);
  }

  /** Called when the packs that serve a workflow may have changed. */
  readonly onChanged = (listener: () => void): void => void this.#listeners.push(listener);

  /** To be called after installed packs changed. */
  changed(): void {
    for (const hear of this.#listeners) hear();
  }

  /** Own installations before the shared ones, last installed first. */
  async installed(tenant: string): Promise<StoredPack[]> {
    const own = await this.#list(tenant);
    return tenant === SHARED ? own : [...own, ...(await this.#list(SHARED))];
  }

  async versionsOf(tenant: string, name: string): Promise<StoredPack[]> {
    return (await this.installed(tenant)).filter(({ record }) => record.name === name);
  }

  /** The versions that serve new runs, by name. */
  async serving(tenant: string): Promise<Map<string, StoredPack>> {
    const serving = new Map<string, StoredPack>();
    for (const pack of await this.installed(tenant))
      if (!serving.has(pack.record.name)) serving.set(pack.record.name, pack);
    return serving;
  }

  async version(integrity: string): Promise<VersionRecord> {
    const present = this.#versions.get(integrity);
    if (present) return present;
    const found = await this.find(packVersions, SHARED, integrity);
    if (!found) throw new Error(`pack version ${integrity} is missing from the store`);
    const { record } = found;
    this.#versions.set(integrity, record);
    if (this.#versions.size > VERSIONS_CACHED_MAX) this.#versions.delete(this.#versions.keys().next().value!);
    return record;
  }

  async archive(integrity: string): Promise<Uint8Array> {
    const bytes = await this.#content(integrity);
    if (!bytes) throw new Error(`pack archive ${integrity} is missing from the store`);
    return bytes;
  }

  /** The grants of the tenant; if it has no record of its own, those of the operator for all tenants. */
  async granted(
    tenant: string,
    { name, integrity }: Pick<PackRecord, 'name' | 'integrity'>,
  ): Promise<readonly string[]> {
    const own = grantedTo(await this.grant(tenant, name), integrity);
    const shared = tenant === SHARED ? [] : (grantedTo(await this.grant(SHARED, name), integrity) ?? []);
    return own === undefined
      ? shared
      : [...own, ...shared.filter((id) => givenBy(tenant, [id]).length === 0)];
  }

  /** The grants that a pack has when the tenant installs it. */
  async inherited(tenant: string, name: string, holder: Holder): Promise<readonly string[]> {
    const own = inherited(await this.grant(tenant, name), holder);
    if (own !== undefined || tenant === SHARED) return own ?? [];
    return givenBy(tenant, inherited(await this.grant(SHARED, name), holder) ?? []);
  }

  /** The grants that a pack of this name may have at install, if its signer is the same. */
  async heldByName(tenant: string, name: string): Promise<readonly string[]> {
    const own = heldByAny(await this.grant(tenant, name));
    return own.length > 0 || tenant === SHARED ? own : heldByAny(await this.grant(SHARED, name));
  }

  grant(tenant: string, name: string): Promise<Grants> {
    return this.find(packGrants, tenant, name);
  }

  find<R extends object>(kind: RecordKind<R>, tenant: string, id: string): Promise<Stored<R> | null> {
    return readRecord(this.#entries, kind, tenant, id);
  }

  count(tenant: string): Promise<number> {
    return this.#entries.count(packs.kind, tenant);
  }

  async #list(tenant: string): Promise<StoredPack[]> {
    const listed = await listRecords(this.#entries, packs, tenant, { limit: PACKS_MAX });
    return listed.sort((left, right) => right.record.installedAt.localeCompare(left.record.installedAt));
  }
}

/** Uninstalls versions. Grants end with the last one of a pack, unless one of `staying` follows in the same commit. */
export async function removalWrites(
  records: PackRecords,
  tenant: string,
  leaving: readonly PackVersion[],
  { now, staying = [] }: { readonly now: number; readonly staying?: readonly PackVersion[] },
): Promise<Write[]> {
  const writes: Write[] = [];
  for (const pack of leaving) {
    const id = labelOf(pack);
    const found = await records.find(packs, tenant, id);
    const key = { kind: packs.kind, tenant, id };
    if (found) writes.push({ kind: 'deleteEntry', key, expectedVersion: found.version });
  }
  const installed = (await records.installed(tenant)).filter((pack) => pack.tenant === tenant);
  const rest = installed
    .map(({ record }) => record)
    .filter((record) => !leaving.some((one) => one.name === record.name && one.version === record.version));
  const names = new Set([...rest, ...staying].map(({ name }) => name));
  for (const name of new Set(leaving.map((one) => one.name)))
    if (!names.has(name)) writes.push(...endWrites(await records.grant(tenant, name), now));
  return writes;
}

type PackVersion = Pick<PackRecord, 'name' | 'version'>;
