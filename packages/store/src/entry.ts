import type { Entry, EntryKey, NewEntry, Write } from './port.ts';

export const versionAfter = ({
  expectedVersion,
  firstVersion = 1,
}: Extract<Write, { kind: 'putEntry' }>): number =>
  expectedVersion === null ? firstVersion : expectedVersion + 1;

/** The entry that a read returns after this put. */
export const storedEntry = ({ runId: _, index: __, ...entry }: NewEntry, version: number): Entry => ({
  workspace: null,
  ...entry,
  version,
});

/** The key as a string, for maps. */
export const entryKey = ({ kind, tenant, id }: EntryKey): string => JSON.stringify([kind, tenant, id]);

/** The value of a counter after this write. Without a maximum it stops at the safe integers, so it never loses. */
export function adjusted(
  before: number,
  { delta, max, floor = Number.MIN_SAFE_INTEGER }: Extract<Write, { kind: 'adjust' }>,
): number | 'full' {
  const value = Math.max(before, floor) + delta;
  if (max !== undefined && delta > 0 && value > max) return 'full';
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));
}
