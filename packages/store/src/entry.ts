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
