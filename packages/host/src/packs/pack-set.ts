/**
 * Plans and removals read the installed packs, decide and commit. Each of them changes one record of its tenant in its
 * commit, so that of two that overlap, in this process or another, the second is decided again on what the first left.
 */
import { OpenwopError } from '@gantry/protocol';
import { putting, type Stored } from '@gantry/resources';
import type { Write } from '@gantry/store';
import { SHARED } from '../workflows/shared.ts';
import { packSets } from './pack-record.ts';
import type { PackRecords } from './pack-records.ts';

const ID = 'installed';
const TRIES_MAX = 4;

type SetRecord = Stored<Record<string, never>> | null;

/** The packs that a tenant sees, as they were before a decision: its own and the shared ones. */
export interface PackSet {
  readonly tenant: string;
  readonly own: SetRecord;
  /** Absent for the operator, whose own packs are the shared ones. */
  readonly shared?: SetRecord;
}

export async function readSet(records: PackRecords, tenant: string): Promise<PackSet> {
  const own = await records.find(packSets, tenant, ID);
  return tenant === SHARED
    ? { tenant, own }
    : { tenant, own, shared: await records.find(packSets, SHARED, ID) };
}

/** `decide` reads the packs and commits with `changedSet`; it returns undefined if the commit lost. */
export async function decideOnSet<T>(
  records: PackRecords,
  tenant: string,
  decide: (set: PackSet) => Promise<T | undefined>,
): Promise<T> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const decided = await decide(await readSet(records, tenant));
    if (decided !== undefined) return decided;
  }
  throw new OpenwopError('conflict', {
    message: 'Other requests are installing or removing packs. Try again.',
  });
}

/** Loses if the set changed since it was read. */
export function changedSet({ tenant, own, shared }: PackSet, now: number): Write[] {
  const writes = [putting(packSets, { tenant, id: ID }, {}, { before: own, now })];
  return shared === undefined ? writes : [...writes, expected(SHARED, shared)];
}

/** Nothing changes, but the pack of a decision has to stay installed until its commit. */
export const expectedSet = ({ tenant, own }: PackSet): Write => expected(tenant, own);

const expected = (tenant: string, set: SetRecord): Write => ({
  kind: 'expectEntry',
  key: { kind: packSets.kind, tenant, id: ID },
  version: set?.version ?? null,
});
