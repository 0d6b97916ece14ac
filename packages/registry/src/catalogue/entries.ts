/** Entries of the registry in the store. */
import { given } from '@gantry/protocol';
import type { Entry, EntryKey, Store, Write } from '@gantry/store';

/** All entries of a kind, or those with this `ref`, read page by page. */
export async function readEntries(
  store: Pick<Store, 'entries'>,
  { kind, tenant, ref, page }: { kind: string; tenant: string; ref?: string; page: number },
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let beforeId: string | undefined; ; ) {
    const found = await store.entries.list(kind, tenant, {
      limit: page,
      ...given({ ref, beforeId }),
    });
    entries.push(...found);
    beforeId = found.at(-1)?.id;
    if (found.length < page) return entries;
  }
}

/** Writes an entry that is never due and never expires; `expectedVersion` is null for a new one. */
export const putEntry = (
  key: EntryKey,
  body: unknown,
  more: { readonly now: number; readonly expectedVersion: number | null; readonly ref?: string },
): Write => ({
  kind: 'putEntry',
  entry: {
    ...key,
    ref: more.ref ?? null,
    dueAt: null,
    expiresAt: null,
    createdAt: more.now,
    body: JSON.stringify(body),
  },
  expectedVersion: more.expectedVersion,
});

export const deleteEntry = (key: EntryKey, expectedVersion: number): Write => ({
  kind: 'deleteEntry',
  key,
  expectedVersion,
});
