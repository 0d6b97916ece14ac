import { holder } from '../../blob.ts';
import type { PutInParts } from '../../body-parts.ts';
import { COUNTERS, ENTRIES, ENTRY_INDEX } from '../../columns.ts';
import { entryKey, storedEntry, versionAfter } from '../../entry.ts';
import type { Entry, EntryKey, Write } from '../../port.ts';
import type { BlobChanges } from '../blobs.ts';
import type { Known } from '../decide.ts';
import { insert, insertNew, rowsAs, type Tx, typesOf } from '../sql.ts';

type EntryWrite = Extract<Write, { kind: 'putEntry' | 'deleteEntry' | 'expectEntry' }>;
type Put = Extract<Write, { kind: 'putEntry' }>;
type Row = Entry & { readonly runId: string | null };

const keyOf = (write: EntryWrite): EntryKey => {
  const { kind, tenant, id } = write.kind === 'putEntry' ? write.entry : write.key;
  return { kind, tenant, id };
};

/** `stored`: the keys that had a row, locked by this transaction. The last of several writes to one key counts. */
export async function writeEntries(
  tx: Tx,
  won: readonly Write[],
  stored: ReadonlySet<string>,
  blobs: BlobChanges,
): Promise<void> {
  const latest = new Map<string, EntryWrite>();
  for (const write of won) {
    if (write.kind === 'putEntry' || write.kind === 'deleteEntry') latest.set(entryKey(keyOf(write)), write);
    else if (write.kind === 'expectEntry' && !latest.has(entryKey(write.key)))
      latest.set(entryKey(write.key), write);
  }
  const inserts: Row[] = [];
  const updates: Row[] = [];
  const deletes: EntryKey[] = [];
  const placeholders: EntryKey[] = [];
  for (const [key, write] of latest) {
    const exists = stored.has(key);
    if (exists && write.kind !== 'expectEntry') blobs.drop(holder.entry(keyOf(write)));
    if (write.kind === 'putEntry') (exists ? updates : inserts).push(toRow(write, blobs));
    else if (exists && write.kind === 'deleteEntry') deletes.push(keyOf(write));
    else if (!exists && write.kind === 'expectEntry') placeholders.push(keyOf(write));
  }
  await insertNew(tx, ENTRIES, [...inserts, ...placeholders.map(placeholder)], 'kind, tenant, id');
  await updateEntries(tx, updates);
  await deleteFrom(tx, 'entries', [...deletes, ...placeholders]);
  await deleteIndex(tx, [...updates, ...deletes]);
  await insertIndex(
    tx,
    [...latest.values()].filter((write) => write.kind === 'putEntry'),
  );
}

function toRow(write: PutInParts, blobs: BlobChanges): Row {
  const { entry, bodyHash } = write;
  const user = holder.entry(entry);
  const body = bodyHash === undefined ? blobs.put(user, entry.body) : blobs.putUploaded(user, bodyHash);
  return { ...storedEntry(entry, versionAfter(write)), runId: entry.runId ?? null, body };
}

/**
 * Locks the key of an entry that must not exist until the transaction ends: there is no row to lock. Without it,
 * two transactions that each create the entry that the other expects to be absent would both win.
 */
const placeholder = (key: EntryKey): Row => ({
  ...key,
  workspace: null,
  ref: null,
  version: 0,
  dueAt: null,
  expiresAt: null,
  createdAt: 0,
  runId: null,
  body: '',
});

async function updateEntries(tx: Tx, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    update entries
    set workspace = r.workspace, ref = r.ref, version = r.version, due_at = r."dueAt", expires_at = r."expiresAt",
      created_at = r."createdAt", run_id = r."runId", body = r.body
    from ${rowsAs(tx, 'r', rows, typesOf(ENTRIES))}
    where entries.kind = r.kind and entries.tenant = r.tenant and entries.id = r.id
  `;
}

/** For entries that are replaced or deleted. */
export const deleteIndex = (tx: Tx, keys: readonly EntryKey[]) => deleteFrom(tx, 'entry_index', keys);

async function deleteFrom(tx: Tx, table: string, keys: readonly EntryKey[]): Promise<void> {
  if (keys.length === 0) return;
  const wanted = keys.map(({ kind, tenant, id }) => ({ kind, tenant, id }));
  await tx`
    delete from ${tx(table)}
    where (kind, tenant, id) in (
      select kind, tenant, id
      from ${rowsAs(tx, 'r', wanted, 'kind text, tenant text, id text')}
    )
  `;
}

async function insertIndex(tx: Tx, puts: readonly Put[]): Promise<void> {
  const rows = puts.flatMap(({ entry: { kind, tenant, id, index = [] } }) => {
    const values = new Map(index.map((each) => [JSON.stringify([each.name, each.value]), each]));
    return [...values.values()].map(({ name, value, unique: isUnique = false }) => {
      return { kind, tenant, id, name, value, isUnique };
    });
  });
  await insertNew(tx, ENTRY_INDEX, rows, 'kind, tenant, name, value, id');
}

/** `stored`: the counters that had a row, locked by this transaction. */
export async function writeCounters(
  tx: Tx,
  won: readonly Write[],
  counters: Known['counters'],
  stored: ReadonlySet<string>,
): Promise<void> {
  const changed = new Map<string, object>();
  for (const write of won) {
    if (write.kind !== 'adjust') continue;
    const key = entryKey(write.key);
    const { runId = null, expiresAt = null } = write;
    changed.set(key, { ...write.key, value: counters.get(key) ?? 0, runId, expiresAt });
  }
  const isStored = ([key]: [string, unknown]): boolean => stored.has(key);
  const updates = [...changed].filter(isStored).map(([, row]) => row);
  const inserts = [...changed].filter((each) => !isStored(each)).map(([, row]) => row);
  const replace = 'on conflict (kind, tenant, id) do update set value = excluded.value';
  await insert(tx, COUNTERS, updates, `order by kind, tenant, id ${replace}`);
  await insertNew(tx, COUNTERS, inserts, 'kind, tenant, id');
}
