import type { Entry, Store } from '@gantry/store';

/** All entries of a kind, or those that hang on `ref`, read page by page. */
export async function readEntries(
  store: Pick<Store, 'entries'>,
  { kind, tenant, ref, page }: { kind: string; tenant: string; ref?: string; page: number },
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let beforeId: string | undefined; ; ) {
    const found = await store.entries.list(kind, tenant, {
      limit: page,
      ...(ref !== undefined && { ref }),
      ...(beforeId !== undefined && { beforeId }),
    });
    entries.push(...found);
    beforeId = found.at(-1)?.id;
    if (found.length < page) return entries;
  }
}
