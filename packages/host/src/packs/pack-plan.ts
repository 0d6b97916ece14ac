/** Makes a plan of a request: the versions, those that are already installed, and their grants. */
import { type InstalledVersion, type PackManifest, readLock } from '@gantry/packs';
import { didYouMean, invalid } from '@gantry/protocol';
import { givenBy } from './grants.ts';
import type { InstallPlan, Regrant } from './installer.ts';
import type { Candidate } from './judged-pack.ts';
import { GRANTABLE } from './offer.ts';
import type { PackRecords, StoredPack } from './pack-records.ts';
import type { Choice, ChosenPack, RegistryPacks, Wanted } from './registry-packs.ts';

/** An archive that was read. */
export interface ReadArchive {
  readonly manifest: PackManifest;
  readonly candidate: Candidate;
}

export interface PlanRequest
  extends Pick<Wanted, 'roots' | 'isFrozen' | 'unverified'>,
    Pick<InstallPlan, 'tenant' | 'by' | 'pins' | 'confirms'> {
  /** An archive that the caller uploads. */
  readonly upload?: ReadArchive;
  /** The text of a lockfile. */
  readonly lock?: string | undefined;
  /** By the name of the pack. */
  readonly grants: Readonly<Record<string, readonly string[]>>;
  readonly registries?: readonly string[] | undefined;
  readonly older?: boolean | undefined;
}

/** Fetches missing packs. Installed packs stay, with the grants that the request adds. */
export async function preparePlan(
  { records, registry }: { readonly records: PackRecords; readonly registry: RegistryPacks },
  request: PlanRequest,
): Promise<{ readonly plan: InstallPlan; readonly present: readonly StoredPack[] }> {
  const { tenant, by, roots, upload, lock, isFrozen, registries, unverified, grants, confirms } = request;
  refuseUnknownGrants(grants);
  const serving = await records.serving(tenant);
  const installed = new Map<string, InstalledVersion>(
    [...serving].map(([name, { record }]) => [name, record]),
  );
  if (upload) installed.set(upload.manifest.name, { ...upload.manifest, isNew: true });
  const locked = lock === undefined ? undefined : readLock(lock);
  const choice = await registry({ roots, lock: locked, isFrozen, installed, unverified }, registries);
  refuseStrayGrants(grants, [...choice.packs, ...choice.kept, ...(upload ? [upload.manifest] : [])]);
  const { present: found, missing } = await presentOf(records, tenant, choice);
  const present = [...choice.kept.flatMap(({ name }) => serving.get(name) ?? []), ...found];
  const plan: InstallPlan = {
    tenant,
    by,
    candidates: [...(await choice.fetch(missing)), ...(upload ? [upload.candidate] : [])],
    regrants: await regrantsOf(records, request, present),
    given: ({ name }) => ({ grants: givenTo(grants, name) }),
    unmet: 'refuse',
    confirms,
    pins: request.pins ?? [],
    older: request.older ?? false,
  };
  return { plan, present };
}

/** The chosen packs that are already installed, and those that have to be fetched. */
export async function presentOf(
  records: PackRecords,
  tenant: string,
  choice: Choice,
): Promise<{ present: StoredPack[]; missing: ChosenPack[] }> {
  const [present, missing]: [StoredPack[], ChosenPack[]] = [[], []];
  const visible = await records.installed(tenant);
  for (const pack of choice.packs) {
    const found = visible.find(({ record }) => isSame(record, pack));
    if (found) await choice.check(pack, () => records.archive(pack.integrity));
    if (found) present.push(found);
    else missing.push(pack);
  }
  return { present, missing };
}

const givenTo = (grants: PlanRequest['grants'], name: string): readonly string[] =>
  Object.hasOwn(grants, name) ? (grants[name] ?? []) : [];

export const isSame = (record: StoredPack['record'], { name, version, integrity }: ChosenPack): boolean =>
  record.name === name && record.version === version && record.integrity === integrity && !record.development;

function refuseUnknownGrants(grants: PlanRequest['grants']): void {
  const unknown = Object.values(grants)
    .flat()
    .find((id) => !GRANTABLE.includes(id));
  if (unknown === undefined) return;
  const hint = didYouMean(unknown, GRANTABLE) || ` One of: ${GRANTABLE.join(', ')}.`;
  throw invalid(`"${unknown}" cannot be granted.${hint}`, { path: '/grants' });
}

/** A grant that matches no pack is a typing error. */
function refuseStrayGrants(grants: PlanRequest['grants'], packs: readonly { readonly name: string }[]): void {
  const stray = Object.keys(grants).find((name) => !packs.some((pack) => pack.name === name));
  if (stray === undefined) return;
  throw invalid(`A grant names ${stray}, which is not among the packs to install.`, { path: '/grants' });
}

async function regrantsOf(
  records: PackRecords,
  { tenant, grants }: PlanRequest,
  present: readonly StoredPack[],
): Promise<Regrant[]> {
  const regrants: Regrant[] = [];
  for (const { record } of present) {
    const given = givenBy(tenant, givenTo(grants, record.name));
    const { name, version, integrity } = record;
    if (given.length === 0) continue;
    const requires = [...new Set([...(await records.granted(tenant, record)), ...given])];
    regrants.push({ name, version, integrity, requires });
  }
  return regrants;
}
