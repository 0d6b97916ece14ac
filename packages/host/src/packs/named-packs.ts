/**
 * The packs that the operator's settings name by range. What a range was resolved to is kept, so that a restart
 * needs no registry and changes nothing; another list or another lockfile decides anew.
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { compareVersions, type Root, unmetRequirements } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { EntryKey, Store } from '@gantry/store';
import type { Logger } from 'pino';
import { type Settings, SettingsError } from '../settings.ts';
import { SHARED } from '../workflows/shared.ts';
import { grantWrite } from './grants.ts';
import type { Installed, InstallRequest } from './installer.ts';
import { SURFACE_GRANTS } from './offer.ts';
import { bodyOf, type PackRecord, packKey, putting } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';
import type { ChosenPack, OpenRegistries, RegistryPacks } from './registry-packs.ts';
import type { HostTrust } from './trust.ts';

const TRIES_MAX = 4;
export const BY_SETTING = 'setting:GANTRY_PACKS';

/** What the present list stands for, when all of it was installed or left out for want of a grant. */
const PLAN: EntryKey = { kind: 'pack-plan', tenant: SHARED, id: BY_SETTING };

interface Plan {
  /** The list and the lockfile that it was made of. */
  readonly basis: readonly string[];
  readonly packs: readonly ChosenPack[];
}

export interface NamedPacksOptions {
  readonly store: Pick<Store, 'commit'>;
  readonly records: PackRecords;
  readonly registry: RegistryPacks;
  readonly packLock: string | undefined;
  readonly trust: HostTrust;
  readonly environment: Settings['packEnvironment'];
  readonly install: (request: InstallRequest) => Promise<Installed>;
  readonly now: () => number;
  readonly log: Logger;
}

export interface NamedPack {
  readonly name: string;
  readonly version: string;
  readonly outcome: 'installed' | 'left out';
}

type Done = ChosenPack & NamedPack;

/** Everything that the names stand for, dependencies first. */
export async function installNamed(
  given: NamedPacksOptions,
  roots: readonly Root[],
): Promise<readonly NamedPack[]> {
  if (roots.length === 0) return [];
  let opened: Promise<OpenRegistries> | undefined;
  const registry: RegistryPacks = () => {
    opened ??= given.registry();
    return opened;
  };
  const options = { ...given, registry };
  const { basis, packs } = await planFor(options, roots);
  const done: Done[] = [];
  for (const pack of packs) done.push(await installOne(options, pack, done));
  await keepPlan(options, { basis, packs: done.map(({ outcome: _, ...pack }) => pack) });
  return done;
}

async function planFor(options: NamedPacksOptions, roots: readonly Root[]): Promise<Plan> {
  const { records, registry, packLock } = options;
  const lock = packLock === undefined ? undefined : await lockText(packLock);
  const basis = [
    ...roots.map(({ name, range }) => `${name}@${range}`).sort(),
    ...(lock === undefined ? [] : [`lockfile ${hash('sha256', lock)}`]),
  ];
  const entry = await records.entry(PLAN);
  const kept = entry ? bodyOf<Plan>(entry) : undefined;
  if (kept && kept.basis.join() === basis.join() && (await isSettled(options, kept))) return kept;
  const registries = await registry();
  const packs = await (lock === undefined ? registries.choose(roots) : registries.chooseLocked(lock, roots));
  return { basis, packs };
}

async function lockText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new SettingsError(
      `GANTRY_PACK_LOCK cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  });
}

/** Nothing of it is left to do here. */
async function isSettled(options: NamedPacksOptions, { packs }: Plan): Promise<boolean> {
  const leftOut: NamedPack[] = [];
  for (const pack of packs) {
    if (await isInstalled(options, pack)) continue;
    if ((await reasonAgainst(options, pack, leftOut)) === undefined) return false;
    leftOut.push({ ...pack, outcome: 'left out' });
  }
  return true;
}

async function isInstalled({ records }: NamedPacksOptions, pack: ChosenPack): Promise<boolean> {
  const entry = await records.entry(packKey(SHARED, pack.name, pack.version));
  return entry !== null && bodyOf<PackRecord>(entry).integrity === pack.integrity;
}

async function installOne(
  options: NamedPacksOptions,
  pack: ChosenPack,
  done: readonly NamedPack[],
): Promise<Done> {
  const { registry, install, records, log } = options;
  const { name, version } = pack;
  const leaveOut = (left: ChosenPack, reason: string): Done => {
    log.warn({ pack: `${name}@${version}` }, `pack left out: ${reason}`);
    return { ...left, outcome: 'left out' };
  };
  if (await isInstalled(options, pack)) {
    await grantNamed(options, pack);
    return { ...pack, outcome: 'installed' };
  }
  const foreseen = await reasonAgainst(options, pack, done);
  if (foreseen !== undefined) return leaveOut(pack, foreseen);
  const { archive, requires, proof } = await (await registry()).fetch(pack);
  const fetched = { ...pack, requires };
  const reason = await reasonAgainst(options, fetched, done);
  if (reason !== undefined) return leaveOut(fetched, reason);
  const request = { tenant: SHARED, archive, source: 'archive', development: false } as const;
  const [current] = await records.versionsOf(SHARED, name);
  const given = { grant: grantsOf(options, fetched), exactly: isListed(options, name) };
  const record = await install({ ...request, registry: proof, ...given, older: true, by: BY_SETTING }).then(
    (installed) => installed.record,
    (error: unknown) => {
      // What was granted before belongs to another signer.
      if (error instanceof OpenwopError && error.code === 'pack_runtime_requirement_unmet') return;
      throw error;
    },
  );
  if (!record) return leaveOut(fetched, unmetText(requires));
  // The list is the operator's word, and a restart with the same list changes nothing.
  if (current && compareVersions(version, current.record.version) < 0)
    log.warn({ pack: `${name}@${version}`, before: current.record.version }, 'older pack version installed');
  const { trust, signedBy, warnings } = record;
  log.info({ pack: `${name}@${version}`, registry: proof.url, trust, signedBy, warnings }, 'pack installed');
  return { ...fetched, outcome: 'installed' };
}

async function reasonAgainst(
  options: NamedPacksOptions,
  pack: ChosenPack,
  done: readonly NamedPack[],
): Promise<string | undefined> {
  const { records } = options;
  const { name, dependencies, requires } = pack;
  const lacking = done.find((one) => one.outcome === 'left out' && dependencies.includes(one.name));
  if (lacking) return `it depends on ${lacking.name}, which is left out.`;
  const before = isListed(options, name) ? [] : await records.heldByName(SHARED, name);
  const unmet = unmetRequirements(requires, [...before, ...grantsOf(options, pack)]);
  return unmet.length === 0 ? undefined : unmetText(unmet);
}

const unmetText = (unmet: readonly string[]): string =>
  `it asks for ${unmet.join(', ')}. Grant that in the trust file, under grants, and start again.`;

/** The trust file says what the pack may do. */
const isListed = ({ trust }: Pick<NamedPacksOptions, 'trust'>, name: string): boolean =>
  Object.hasOwn(trust.grants, name);

/** What the operator gives it: by the trust file, by naming variables for it, and the surfaces that the plan lists. */
function grantsOf(
  { trust, environment }: NamedPacksOptions,
  { name, requires }: ChosenPack,
): readonly string[] {
  const listed = Object.hasOwn(trust.grants, name) ? (trust.grants[name] ?? []) : [];
  const reads = Object.hasOwn(environment, name) ? ['env.read'] : [];
  return [...listed, ...reads, ...requires.filter((id) => SURFACE_GRANTS.includes(id))];
}

/** What the trust file says of a pack is exactly what it may do; of others, what was granted before. */
async function grantNamed(options: NamedPacksOptions, pack: ChosenPack): Promise<void> {
  const { store, records, now } = options;
  const { name, version, integrity } = pack;
  const before = isListed(options, name) ? [] : await records.granted(SHARED, pack);
  const requires = [...before, ...grantsOf(options, pack)];
  const granting = { tenant: SHARED, name, version, integrity, requires, by: BY_SETTING };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const writes = grantWrite({ ...granting, now: now() }, await records.grant(SHARED, name));
    if (writes.length === 0) return;
    const [result] = await store.commit([writes]);
    if (result?.won) return;
  }
  throw new SettingsError(`the grants of ${name} are being changed by another process. Start again.`);
}

/** Losing means that another process starts with the same list, and keeps the same. */
async function keepPlan({ store, records, now }: NamedPacksOptions, plan: Plan): Promise<void> {
  const before = await records.entry(PLAN);
  if (before && before.body === JSON.stringify(plan)) return;
  await store.commit([[putting({ key: PLAN, body: plan, before, now: now() })]]);
}
