/**
 * Installs all packs of a plan or none. Everything is judged before anything is written. Contents are stored first, by
 * integrity, where nothing refers to them yet; then one commit writes all installations and their grants. Code is
 * unpacked when it is used.
 */
import { hash } from 'node:crypto';
import { readRange, refusalError } from '@gantry/packs';
import { OpenwopError, type PackAsking } from '@gantry/protocol';
import { creation, putting } from '@gantry/resources';
import type { Store, Write } from '@gantry/store';
import { SHARED } from '../workflows/shared.ts';
import { refuseUnknownAuth } from './connections/node-auth.ts';
import { grantWrite } from './grants.ts';
import {
  type Candidate,
  type JudgedPack,
  type JudgingOptions,
  type JudgingRules,
  judgePack,
} from './judged-pack.ts';
import { bytesWrites } from './known-bytes.ts';
import { labelOf, type PackRecord, packs, packVersions } from './pack-record.ts';
import { PACKS_MAX, type PackRecords } from './pack-records.ts';
import { changedSet, decideOnSet, type PackSet } from './pack-set.ts';

export interface InstallPlan extends JudgingRules {
  /** Dependencies first. */
  readonly candidates: readonly Candidate[];
  /** Installed packs that get other grants, which replace all earlier ones. */
  readonly regrants?: readonly Regrant[];
  /** How to treat packs that request more than they are granted, and packs that depend on them. */
  readonly unmet: 'refuse' | 'leave out';
  /** Packs that are not in this plan do not stay installed for the tenant. */
  readonly isWhole?: boolean;
  /** The digest of the plan that a user approved. */
  readonly confirms?: string | undefined;
  /** Written in the same commit. */
  readonly also?: (outcome: PlanOutcome) => Promise<readonly Write[]>;
}

export interface Regrant extends Pick<PackRecord, 'name' | 'version' | 'integrity'> {
  readonly requires: readonly string[];
}

export interface LeftOut {
  readonly record: PackRecord;
  readonly asks: readonly string[];
  readonly reason: string;
}

export interface PlanOutcome {
  readonly installed: readonly PackRecord[];
  readonly leftOut: readonly LeftOut[];
  /** False if the same bytes were installed already. */
  readonly changed: boolean;
}

export interface InstallerOptions extends JudgingOptions {
  readonly store: Pick<Store, 'commit'>;
}

/** `prepare` is called again if other packs were installed or removed meanwhile: a plan depends on what it found. */
export const installPlan = (
  options: InstallerOptions,
  tenant: string,
  prepare: () => Promise<InstallPlan>,
): Promise<PlanOutcome> =>
  decideOnSet(options.records, tenant, async (set) => tryInstall(options, await prepare(), set));

/** Undefined if another request wrote in between. */
async function tryInstall(
  options: InstallerOptions,
  plan: InstallPlan,
  set: PackSet,
): Promise<PlanOutcome | undefined> {
  const { records, store, now } = options;
  const judged: JudgedPack[] = [];
  for (const candidate of plan.candidates) judged.push(await judgePack(options, plan, candidate));
  refuseTwice(judged);
  await refuseUnknownAuth(
    records,
    plan.tenant,
    judged.map(({ version }) => version),
  );
  refuseOtherPlan(plan, judged);
  const { taken, leftOut } = selected(plan, judged);
  await refuseDependents(records, plan, taken);
  await refuseTooMany(records, plan, taken);
  const installed = taken.map((pack) => (isUnchanged(pack) && pack.before?.record) || pack.record);
  const outcome = { installed, leftOut, changed: !taken.every(isUnchanged) };
  const writes: Write[] = [];
  for (const pack of taken) {
    writes.push(await contentWrite(options, pack));
    writes.push(...(await packWrites(options, plan, pack)));
  }
  for (const regrant of plan.regrants ?? []) {
    const granting = { ...regrant, tenant: plan.tenant, by: plan.by, now: now() };
    writes.push(...grantWrite(granting, await records.grant(plan.tenant, regrant.name)));
  }
  writes.push(...((await plan.also?.(outcome)) ?? []));
  if (writes.every(({ kind }) => kind === 'expectEntry')) return outcome;
  const [result] = await store.commit([[...writes, ...changedSet(set, now())]]);
  return result?.won ? outcome : undefined;
}

const isUnchanged = ({ before, record }: JudgedPack): boolean =>
  before?.record.integrity === record.integrity && before.record.development === record.development;

/** Covers the bytes and the requested permissions: an approval is valid only for these. */
const digestOf = (judged: readonly JudgedPack[]): string =>
  hash('sha256', JSON.stringify(judged.map(({ record, asks }) => [labelOf(record), record.integrity, asks])));

/** A folder of the settings may not satisfy the dependency of another pack. */
function refuseTwice(judged: readonly JudgedPack[]): void {
  const labels = new Map<string, string>();
  for (const { record } of judged) {
    const first = labels.get(record.name);
    if (first !== undefined)
      throw new OpenwopError('pack_dependency_conflict', {
        message: `The plan has ${first} and ${labelOf(record)}. Change the range that excludes one of them.`,
        details: { packName: record.name },
      });
    labels.set(record.name, labelOf(record));
  }
}

function refuseOtherPlan({ confirms }: InstallPlan, judged: readonly JudgedPack[]): void {
  if (confirms === undefined || confirms === digestOf(judged)) return;
  throw new OpenwopError('conflict', {
    message: 'The registry offers other packs than those that were approved. Review the plan again.',
  });
}

/** The packs that can be installed with their grants. */
function selected(plan: InstallPlan, judged: readonly JudgedPack[]) {
  if (plan.unmet === 'refuse') {
    refuseUnmet(judged);
    return { taken: judged, leftOut: [] };
  }
  const taken: JudgedPack[] = [];
  const leftOut: LeftOut[] = [];
  for (const pack of judged) {
    const { record, asks, refusal } = pack;
    const lacking = leftOut.find(({ record: { name } }) => Object.hasOwn(record.dependencies ?? {}, name));
    const reason = lacking
      ? `it depends on ${lacking.record.name}, which is left out.`
      : refusal && `it asks for ${textsOf(refusal.details.unmet).join(', ')}.`;
    if (reason === undefined) taken.push(pack);
    else leftOut.push({ record, asks, reason });
  }
  return { taken, leftOut };
}

/** One error for all packs, so that one answer approves all of them. */
function refuseUnmet(judged: readonly JudgedPack[]): void {
  const asking = judged.flatMap(({ record, version, refusal }) =>
    refusal ? [{ record, version, refusal }] : [],
  );
  const [first] = asking;
  if (!first) return;
  const packs = asking.map(
    ({ record, version, refusal: { details } }): PackAsking => ({
      name: record.name,
      version: record.version,
      unmet: textsOf(details.unmet),
      granted: textsOf(details.granted),
      undetermined: [...(version.surfaceUnknowns ?? [])].slice(0, 5),
    }),
  );
  const details = { ...first.refusal.details, packs, plan: digestOf(judged) };
  throw refusalError([{ ...first.refusal, details }]);
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** Installed packs keep the versions that they depend on. Packs in development may break that. */
async function refuseDependents(
  records: PackRecords,
  { tenant, isWhole = false }: InstallPlan,
  taken: readonly JudgedPack[],
): Promise<void> {
  if (isWhole) return;
  const replaced = new Set(taken.map(({ record }) => record.name));
  for (const [name, { record: dependent }] of await records.serving(tenant)) {
    if (replaced.has(name)) continue;
    for (const { record } of taken.filter((pack) => !pack.record.development && !isUnchanged(pack))) {
      const range = dependent.dependencies?.[record.name];
      if (range === undefined || (readRange(range)?.range.test(record.version) ?? true)) continue;
      const requestedBy = labelOf(dependent);
      throw new OpenwopError('pack_dependency_conflict', {
        message: `${requestedBy} is installed and depends on ${record.name} ${range}, which ${record.version} does not satisfy. Install a version of ${name} that takes it in the same plan, or remove ${name} first.`,
        details: { packName: record.name, conflictingRanges: [{ requestedBy, range }] },
      });
    }
  }
}

async function refuseTooMany(
  records: PackRecords,
  { tenant }: InstallPlan,
  taken: readonly JudgedPack[],
): Promise<void> {
  const added = taken.filter(({ before }) => before === null).length;
  if (added === 0 || (await records.count(tenant)) + added <= PACKS_MAX) return;
  throw new OpenwopError('conflict', { message: `At most ${PACKS_MAX} pack versions are installed.` });
}

/** Content is stored once, by its integrity, for all tenants. Returns the write that depends on it. */
async function contentWrite(
  { records, store, now }: InstallerOptions,
  { candidate, version, record: { integrity } }: JudgedPack,
): Promise<Write> {
  const of = { tenant: SHARED, id: integrity };
  const key = { kind: packVersions.kind, ...of };
  const kept = await records.find(packVersions, SHARED, integrity);
  if (kept) return { kind: 'expectEntry', key, version: kept.version };
  await store.commit([
    [
      creation(packVersions, of, version, now()),
      { kind: 'putContent', hash: integrity, bytes: candidate.bytes },
    ],
  ]);
  return { kind: 'expectEntry', key, version: 1 };
}

async function packWrites(
  { records, now }: InstallerOptions,
  { tenant, by }: InstallPlan,
  pack: JudgedPack,
): Promise<Write[]> {
  const { record, before, candidate, holder, granted } = pack;
  const { name, version } = record;
  const isFromRegistry = candidate.registry !== undefined && !candidate.registry.asUpload;
  const known = { tenant, record, isFromRegistry, now: now() };
  const granting = { tenant, name, version, ...holder, requires: granted, by, now: now() };
  return [
    ...(isUnchanged(pack)
      ? []
      : [putting(packs, { tenant, id: labelOf(record) }, record, { before, now: now() })]),
    ...(record.development ? [] : await bytesWrites(records, known)),
    ...grantWrite(granting, await records.grant(tenant, name)),
  ];
}
