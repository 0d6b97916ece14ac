import { holder } from '../../blob.ts';
import type { Entry, EntryKey, Write } from '../../port.ts';
import type { BlobChanges } from '../blobs.ts';
import { entryKey, nextVersion } from '../decide.ts';
import { Raced, rowsJson, type Tx } from '../sql.ts';

type EntryWrite = Extract<Write, { kind: 'putEntry' | 'deleteEntry' }>;

const keyOf = (write: EntryWrite): EntryKey => (write.kind === 'putEntry' ? write.entry : write.key);

/** `stored` are the keys that had a row, locked by this transaction. Of several writes to one key the last counts. */
export async function writeEntries(
  tx: Tx,
  won: readonly Write[],
  stored: ReadonlySet<string>,
  blobs: BlobChanges,
): Promise<void> {
  const latest = new Map<string, EntryWrite>();
  for (const write of won) {
    if (write.kind === 'putEntry' || write.kind === 'deleteEntry') latest.set(entryKey(keyOf(write)), write);
  }
  if (latest.size === 0) return;
  const inserts: Entry[] = [];
  const updates: Entry[] = [];
  const deletes: EntryKey[] = [];
  for (const [key, write] of latest) {
    const exists = stored.has(key);
    if (exists) blobs.drop(holder.entry(keyOf(write)));
    if (write.kind === 'putEntry') (exists ? updates : inserts).push(toRow(write, blobs));
    else if (exists) deletes.push(write.key);
  }
  await insertEntries(tx, inserts);
  await updateEntries(tx, updates);
  await deleteEntries(tx, deletes);
}

function toRow(write: Extract<EntryWrite, { kind: 'putEntry' }>, blobs: BlobChanges): Entry {
  const { entry, expectedVersion } = write;
  const body = blobs.put(holder.entry(entry), entry.body);
  return { ...entry, version: nextVersion(expectedVersion), body };
}

const ROW = `
  kind text, tenant text, id text, ref text, version bigint, "dueAt" bigint, "expiresAt" bigint,
  "createdAt" bigint, body text
`;

async function insertEntries(tx: Tx, rows: readonly Entry[]): Promise<void> {
  if (rows.length === 0) return;
  const inserted = await tx`
    insert into entries (kind, tenant, id, ref, version, due_at, expires_at, created_at, body)
    select kind, tenant, id, ref, version, "dueAt", "expiresAt", "createdAt", body
    from json_to_recordset(${rowsJson(rows)}::text::json) as r (${tx.unsafe(ROW)})
    order by kind, tenant, id
    on conflict do nothing
  `;
  if (inserted.count !== rows.length) throw new Raced();
}

async function updateEntries(tx: Tx, rows: readonly Entry[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    update entries
    set ref = r.ref, version = r.version, due_at = r."dueAt", expires_at = r."expiresAt",
      created_at = r."createdAt", body = r.body
    from json_to_recordset(${rowsJson(rows)}::text::json) as r (${tx.unsafe(ROW)})
    where entries.kind = r.kind and entries.tenant = r.tenant and entries.id = r.id
  `;
}

async function deleteEntries(tx: Tx, keys: readonly EntryKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx`
    delete from entries
    where (kind, tenant, id) in (
      select kind, tenant, id
      from json_to_recordset(${rowsJson(keys)}::text::json) as r (kind text, tenant text, id text)
    )
  `;
}
