/**
 * The packs of the operator's settings, installed at every start for every tenant: folders, and names with ranges.
 * The resolved versions are stored, so that a restart needs no registry and changes nothing; another list or
 * another lockfile is resolved again.
 */
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import {
  compareVersions,
  type Root,
  readArchive,
  readLock,
  unmetRequirements,
  writeArchive,
} from '@gantry/packs';
import { putting, type RecordKind } from '@gantry/resources';
import type { Write } from '@gantry/store';
import type { Logger } from 'pino';
import { type Settings, SettingsError } from '../settings.ts';
import { SHARED } from '../workflows/shared.ts';
import type { InstallPlan, PlanOutcome, Regrant } from './installer.ts';
import { type Asking, type Candidate, type Given, manifestOf } from './judged-pack.ts';
import { SURFACE_GRANTS } from './offer.ts';
import { type ReadArchive as Folder, isSame, presentOf } from './pack-plan.ts';
import { labelOf } from './pack-record.ts';
import { type PackRecords, removalWrites } from './pack-records.ts';
import type { ChosenPack, RegistryPacks } from './registry-packs.ts';
import type { HostTrust } from './trust.ts';

export const BY_SETTING = 'setting:GANTRY_PACKS';

/** The resolution of the current list, once all packs were installed or left out for lack of a grant. */
export const keptPlans: RecordKind<KeptPlan> = { kind: 'pack-plan', idPrefix: 'pack-plan' };
const NAMED = /^((?:core|vendor|community|private|local)(?:\.[A-Za-z0-9_-]+)+)(?:@(.+))?$/;

interface KeptPack extends ChosenPack {
  /** Of a pack that was left out: the permissions that it requests, and its dependencies. */
  readonly leftOut?: { readonly asks: readonly string[]; readonly dependencies: readonly string[] };
}

interface KeptPlan {
  /** The list and the lockfile that it was resolved from. */
  readonly basis: readonly string[];
  readonly packs: readonly KeptPack[];
}

export interface SettingsPacksOptions {
  readonly settings: Pick<Settings, 'packs' | 'packLock' | 'packEnvironment'>;
  readonly records: PackRecords;
  readonly registry: RegistryPacks;
  readonly trust: HostTrust;
  readonly install: (prepare: () => Promise<InstallPlan>) => Promise<PlanOutcome>;
  readonly now: () => number;
  readonly log: Logger;
}

/** A pack that cannot be installed stops the start: the operator requested it by name. */
export async function installSettings(options: SettingsPacksOptions): Promise<void> {
  const { records, log, install } = options;
  const listed = options.settings.packs;
  const folders: Folder[] = [];
  for (const item of listed.filter((one) => !rootOf(one)))
    folders.push(await naming(item, () => readFolder(item)));
  const roots = listed.flatMap((item) => rootOf(item) ?? []);
  await naming(roots.map(({ name }) => name).join(', ') || 'folders', async () => {
    const before = await records.serving(SHARED);
    let named: NamedPacks = NO_NAMES;
    const outcome = await install(async () => {
      named = await namedPacks(options, roots, folders);
      return planOf(options, named, folders);
    });
    tell(log, outcome, before);
    for (const pack of named.packs)
      if (pack.leftOut)
        warnLeftOut(log, pack, `it asks for ${pack.leftOut.asks.join(', ') || 'other packs'}.`);
  });
}

async function planOf(
  options: SettingsPacksOptions,
  named: NamedPacks,
  folders: readonly Folder[],
): Promise<InstallPlan> {
  const installed = await options.records.installed(SHARED);
  const isThere = (pack: ChosenPack): boolean => installed.some(({ record }) => isSame(record, pack));
  return {
    tenant: SHARED,
    by: BY_SETTING,
    candidates: [...folders.map(({ candidate }) => candidate), ...named.candidates],
    regrants: await regrantsOf(options, named.packs.filter(isThere)),
    given: (asking) => givenTo(options, folders, asking),
    unmet: 'leave out',
    isWhole: true,
    older: true,
    also: async (done) => [
      ...(await keepWrites(options, named, done)),
      ...(await retireWrites(options, named.packs, done)),
    ],
  };
}

/** `vendor.acme.crm@^1.2`; any version without a range. A folder with such a name is written `./name`. */
function rootOf(item: string): Root | undefined {
  const [, name, range = '*'] = NAMED.exec(item) ?? [];
  return name === undefined ? undefined : { name, range, requestedBy: 'GANTRY_PACKS' };
}

async function naming<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new SettingsError(`GANTRY_PACKS: ${what}: ${error instanceof Error ? error.message : error}`);
  }
}

async function readFolder(folder: string): Promise<Folder> {
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory())
    throw new SettingsError('it is neither a folder nor the name of a pack, such as vendor.acme.crm@^1.2.');
  const { bytes } = await writeArchive(folder);
  const manifest = manifestOf(await readArchive(bytes));
  return { manifest, candidate: { bytes, source: 'folder', development: true } };
}

interface NamedPacks extends KeptPlan {
  /** Those that are not installed. */
  readonly candidates: readonly Candidate[];
}

const NO_NAMES: NamedPacks = { basis: [], packs: [], candidates: [] };

/** The resolved versions of all names, dependencies first. */
async function namedPacks(
  options: SettingsPacksOptions,
  roots: readonly Root[],
  folders: readonly Folder[],
): Promise<NamedPacks> {
  const { records, registry, settings } = options;
  if (roots.length === 0) return NO_NAMES;
  const lock = settings.packLock === undefined ? undefined : await lockText(settings.packLock);
  const basis = [
    ...roots.map(({ name, range }) => `${name}@${range}`).sort(),
    ...(lock === undefined ? [] : [`lockfile ${hash('sha256', lock)}`]),
  ];
  const kept = await records.find(keptPlans, SHARED, BY_SETTING);
  if (kept && kept.record.basis.join() === basis.join() && (await isSettled(options, kept.record)))
    return { ...kept.record, candidates: [] };
  const choice = await registry({
    roots,
    lock: lock === undefined ? undefined : readLock(lock),
    isFrozen: lock !== undefined,
    installed: new Map(folders.map(({ manifest }) => [manifest.name, manifest])),
  });
  const { missing } = await presentOf(records, SHARED, choice);
  const packs = choice.packs.map(({ name, version, integrity, isExact }) => ({
    name,
    version,
    integrity,
    isExact,
  }));
  return { basis, packs, candidates: await choice.fetch(missing) };
}

async function lockText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new SettingsError(
      `GANTRY_PACK_LOCK cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  });
}

/** Each pack is installed, or still left out for the same reason. */
async function isSettled(options: SettingsPacksOptions, { packs }: KeptPlan): Promise<boolean> {
  const { records } = options;
  const installed = await records.installed(SHARED);
  for (const pack of packs) {
    if (installed.some(({ record }) => isSame(record, pack))) continue;
    if (!pack.leftOut) return false;
    const { asks, dependencies } = pack.leftOut;
    if (packs.some((one) => one.leftOut && dependencies.includes(one.name))) continue;
    const { grants, exactly } = grantsOf(options, { name: pack.name, asks });
    const before = exactly ? [] : await records.heldByName(SHARED, pack.name);
    if (unmetRequirements(asks, [...before, ...grants]).length === 0) return false;
  }
  return true;
}

/** The operator's grants: in the trust file, by variables for the pack, and for the requested surfaces. */
function grantsOf(
  { trust, settings }: Pick<SettingsPacksOptions, 'trust' | 'settings'>,
  { name, asks }: Pick<Asking, 'name' | 'asks'>,
): Given {
  const exactly = Object.hasOwn(trust.grants, name);
  const reads = Object.hasOwn(settings.packEnvironment, name) ? ['env.read'] : [];
  const surfaces = asks.filter((id) => SURFACE_GRANTS.includes(id));
  return { exactly, grants: [...(exactly ? (trust.grants[name] ?? []) : []), ...reads, ...surfaces] };
}

/** A folder of the operator is granted everything that it requests. */
function givenTo(options: SettingsPacksOptions, folders: readonly Folder[], asking: Asking): Given {
  if (!folders.some(({ manifest }) => manifest.name === asking.name)) return grantsOf(options, asking);
  return { grants: [...asking.asks, ...(asking.isUndetermined ? SURFACE_GRANTS : [])] };
}

/** Packs in the trust file get exactly the grants there; others keep their earlier grants. */
async function regrantsOf(options: SettingsPacksOptions, present: readonly ChosenPack[]): Promise<Regrant[]> {
  const { records } = options;
  return Promise.all(
    present.map(async ({ name, version, integrity }) => {
      const { requires, surfaceAsks = [] } = await records.version(integrity);
      const { grants, exactly } = grantsOf(options, { name, asks: [...requires, ...surfaceAsks] });
      const before = exactly ? [] : await records.granted(SHARED, { name, integrity });
      return { name, version, integrity, requires: [...new Set([...before, ...grants])] };
    }),
  );
}

async function keepWrites(
  { records, now }: SettingsPacksOptions,
  { basis, packs }: KeptPlan,
  { leftOut }: PlanOutcome,
): Promise<Write[]> {
  const kept = packs.map((pack): KeptPack => {
    const left = leftOut.find(({ record }) => record.name === pack.name);
    if (!left) return pack;
    const dependencies = Object.keys(left.record.dependencies ?? {});
    return { ...pack, leftOut: { asks: left.asks, dependencies } };
  });
  const body: KeptPlan = { basis, packs: kept };
  const before = await records.find(keptPlans, SHARED, BY_SETTING);
  if (before ? JSON.stringify(before.record) === JSON.stringify(body) : packs.length === 0) return [];
  return [putting(keptPlans, { tenant: SHARED, id: BY_SETTING }, body, { before, now: now() })];
}

/**
 * Removes other versions and other packs that the settings installed before, so that the listed version serves.
 * If the listed version was left out, the previous one continues to serve.
 */
async function retireWrites(
  { records, now }: SettingsPacksOptions,
  packs: readonly KeptPack[],
  { installed, leftOut }: PlanOutcome,
): Promise<Write[]> {
  const isLeftOut = (name: string): boolean =>
    leftOut.some(({ record }) => record.name === name) ||
    packs.some((one) => one.name === name && one.leftOut);
  const staying = [...packs, ...installed].filter(({ name }) => !isLeftOut(name));
  const leaving = (await records.installed(SHARED))
    .map(({ record }) => record)
    .filter(
      ({ name, version, installedBy }) =>
        installedBy === BY_SETTING &&
        !isLeftOut(name) &&
        !staying.some((one) => one.name === name && one.version === version),
    );
  return removalWrites(records, SHARED, leaving, { now: now(), staying });
}

function tell(
  log: Logger,
  { installed, leftOut }: PlanOutcome,
  before: Awaited<ReturnType<PackRecords['serving']>>,
): void {
  for (const { name, version, trust, signedBy, warnings, source } of installed) {
    const pack = `${name}@${version}`;
    const earlier = before.get(name)?.record.version;
    // The operator requested this list, and a restart with the same list changes nothing.
    if (source === 'archive' && earlier !== undefined && compareVersions(version, earlier) < 0)
      log.warn({ pack, before: earlier }, 'older pack version installed');
    log.info({ pack, source, trust, signedBy, warnings }, 'pack installed');
  }
  for (const { record, reason } of leftOut) warnLeftOut(log, record, reason);
}

const warnLeftOut = (log: Logger, pack: Pick<ChosenPack, 'name' | 'version'>, reason: string): void =>
  log.warn(
    { pack: labelOf(pack) },
    `pack left out: ${reason} Grant what it asks for in the trust file, under grants, and start again.`,
  );
