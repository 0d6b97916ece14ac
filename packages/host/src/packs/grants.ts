/**
 * The permissions that a tenant grants to packs.
 *
 * I1  A grant is held by a signer, or by one archive if unsigned; another pack of the same name inherits nothing.
 * I2  Grants end with the last version of a pack: active runs keep theirs, a new install starts without grants.
 * I3  Only the operator grants `env.read`. A tenant can neither grant nor inherit it.
 */
import { OPERATOR_REQUIREMENT } from '@gantry/packs';
import { isoTime, type PackGrant } from '@gantry/protocol';
import { putting, type Stored } from '@gantry/resources';
import type { Write } from '@gantry/store';
import { SHARED } from '../workflows/shared.ts';
import { type GrantHolder, type GrantRecord, packGrants } from './pack-record.ts';

const HISTORY_MAX = 100;
const HOLDERS_MAX = 50;
const INTEGRITIES_MAX = 100;

/** The pack that holds a grant: its archive and its signer. */
export interface Holder {
  readonly integrity: string;
  /** Absent if unsigned. */
  readonly signer?: string | undefined;
}

export interface Granting extends Holder {
  readonly tenant: string;
  readonly name: string;
  /** The version that was reviewed. */
  readonly version: string;
  readonly requires: readonly string[];
  /** Other holders keep nothing beyond this. */
  readonly narrows?: boolean;
  readonly by: string;
  readonly now: number;
}

/** The stored grants of a pack. */
export type Grants = Stored<GrantRecord> | null;

const recordOf = (grants: Grants): GrantRecord => {
  const { holders = [], history = [] }: Partial<GrantRecord> = grants?.record ?? {};
  return { holders, history };
};

/** I3. */
export const givenBy = (tenant: string, requires: readonly string[]): readonly string[] =>
  tenant === SHARED ? requires : requires.filter((id) => id !== OPERATOR_REQUIREMENT);

/** I1. Undefined when nothing was granted to it. */
function held({ holders }: GrantRecord, { integrity, signer }: Holder): GrantHolder | undefined {
  return holders.find(
    (one) =>
      !one.ended && (one.integrities.includes(integrity) || (signer !== undefined && one.signer === signer)),
  );
}

/** The grants that an archive has when it is installed. */
export const inherited = (grants: Grants, holder: Holder): readonly string[] | undefined =>
  held(recordOf(grants), holder)?.requires;

/** The grants of an archive, even after it was uninstalled. */
export const grantedTo = (grants: Grants, integrity: string): readonly string[] | undefined =>
  recordOf(grants).holders.find(({ integrities }) => integrities.includes(integrity))?.requires;

export const heldByAny = (grants: Grants): readonly string[] =>
  recordOf(grants).holders.flatMap(({ ended, requires }) => (ended ? [] : requires));

export const historyOf = (grants: Grants): readonly PackGrant[] => recordOf(grants).history;

/** Empty if nothing changes. */
export function grantWrite(granting: Granting, before: Grants): Write[] {
  const { tenant, name, version, integrity, signer, by, now } = granting;
  const requires = [...new Set(givenBy(tenant, granting.requires))].sort();
  const record = recordOf(before);
  const holder = held(record, granting);
  const isSame = holder !== undefined && sameSet(holder.requires, requires);
  if (isSame ? holder.integrities.includes(integrity) : !holder && requires.length === 0) return [];
  const integrities = [...new Set([integrity, ...(holder?.integrities ?? [])])].slice(0, INTEGRITIES_MAX);
  const owner = signer ?? holder?.signer;
  const others = record.holders
    .filter((one) => one !== holder)
    .map((one) =>
      granting.narrows ? { ...one, requires: one.requires.filter((id) => requires.includes(id)) } : one,
    );
  const holders = [{ ...(owner !== undefined && { signer: owner }), integrities, requires }, ...others];
  const grantedAt = isoTime(now);
  const granted: PackGrant = { requires, version, workspace: null, grantedBy: by, grantedAt };
  const history = isSame ? record.history : [granted, ...record.history].slice(0, HISTORY_MAX);
  const body: GrantRecord = { holders: holders.slice(0, HOLDERS_MAX), history };
  return [putting(packGrants, { tenant, id: name }, body, { before, now })];
}

/** I2. */
export function endWrites(before: Grants, now: number): Write[] {
  const { holders, history } = recordOf(before);
  if (!before || holders.length === 0) return [];
  const body: GrantRecord = { holders: holders.map((one) => ({ ...one, ended: true })), history };
  return [putting(packGrants, before, body, { before, now })];
}

const sameSet = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((item) => right.includes(item));
