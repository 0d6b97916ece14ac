/** What a tenant lets a pack do: the last word counts, earlier ones are kept with who said them when. */
import type { PackGrant } from '@gantry/protocol';
import type { Entry, Write } from '@gantry/store';
import { bodyOf, type GrantRecord, grantKey, putting } from './pack-record.ts';

const HISTORY_MAX = 100;

export interface Granting {
  readonly tenant: string;
  readonly name: string;
  /** The version that was looked at. */
  readonly version: string;
  readonly requires: readonly string[];
  readonly by: string;
  readonly now: number;
}

/** Nothing when it changes nothing. */
export function grantWrite(
  { tenant, name, version, requires, by, now }: Granting,
  before: Entry | null,
): Write[] {
  const record = before ? bodyOf<GrantRecord>(before) : { requires: [], history: [] };
  if (sameSet(record.requires, requires)) return [];
  const grantedAt = new Date(now).toISOString();
  const granted: PackGrant = { requires: [...requires], version, workspace: null, grantedBy: by, grantedAt };
  const history = [granted, ...record.history].slice(0, HISTORY_MAX);
  return [putting({ key: grantKey(tenant, name), body: { requires: [...requires], history }, before, now })];
}

const sameSet = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((item) => right.includes(item));
