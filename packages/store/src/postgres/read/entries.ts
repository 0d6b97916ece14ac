import { isReference, textBytes } from '../../blob.ts';
import { areStorable } from '../../check.ts';
import { ENTRY_COLUMNS, ENTRY_COLUMNS_AT_REST } from '../../columns.ts';
import { entryKey } from '../../entry.ts';
import { AFTER_EVERY_TEXT, boundsOf } from '../../index-bounds.ts';
import type { Counter, Entry, EntryFilter, EntryKey, EntryReads, IndexedEntry } from '../../port.ts';
import { rowOf, rowsAs, rowsOf, type Sql } from '../sql.ts';

export const entryReads = (sql: Sql): EntryReads => ({
  async get({ kind, tenant, id }) {
    if (!areStorable(kind, tenant, id)) return null;
    return rowOf(sql<Entry[]>`
      select ${sql.unsafe(ENTRY_COLUMNS)}
      from entries
      where kind = ${kind} and tenant = ${tenant} and id = ${id}
    `);
  },
  getMany: (keys) => getMany(sql, keys, ENTRY_COLUMNS),
  async getSmall(keys) {
    const found = await getMany(sql, keys, ENTRY_COLUMNS_AT_REST);
    return found.map((entry) => (entry && isReference(entry.body) ? 'large' : entry));
  },
  list: (kind, tenant, filter) => list(sql, kind, tenant, filter),
  async range(kind, tenant, of) {
    const { name, after, limit } = of;
    const [from, to] = boundsOf(of);
    if (!areStorable(kind, tenant, name, from, to, after?.value, after?.id)) return [];
    return rowsOf(sql<IndexedEntry[]>`
      select ${sql.unsafe(ENTRY_COLUMNS)}, entry_index.value
      from entry_index
      join entries using (kind, tenant, id)
      where entry_index.kind = ${kind} and entry_index.tenant = ${tenant} and name = ${name}
        and value >= ${from} and value < ${to}
        ${after ? sql`and (value, entry_index.id) > (${after.value}, ${after.id})` : sql``}
      order by value, entry_index.id
      limit ${limit}
    `);
  },
  async count(kind, tenant) {
    if (!areStorable(kind, tenant)) return 0;
    const [found] = await sql<[{ count: number }]>`
      select count(*) as count from entries where kind = ${kind} and tenant = ${tenant}
    `;
    return found.count;
  },
  ...counterReads(sql),
  ...hostWideReads(sql),
});

const counterReads = (sql: Sql): Pick<EntryReads, 'counter' | 'counters'> => ({
  async counter({ kind, tenant, id }) {
    if (!areStorable(kind, tenant, id)) return 0;
    const [found] = await sql<{ value: number }[]>`
      select value from counters where kind = ${kind} and tenant = ${tenant} and id = ${id}
    `;
    return found?.value ?? 0;
  },
  async counters(kind, tenant, { prefix, afterId = '', limit }) {
    if (!areStorable(kind, tenant, prefix, afterId)) return [];
    return rowsOf(sql<Counter[]>`
      select id, value from counters
      where kind = ${kind} and tenant = ${tenant}
        and id > ${afterId} and id >= ${prefix} and id < ${prefix + AFTER_EVERY_TEXT}
      order by id
      limit ${limit}
    `);
  },
});

const hostWideReads = (sql: Sql): Pick<EntryReads, 'due' | 'nextDueAt' | 'all'> => ({
  async due(kind, now, limit, after) {
    if (!areStorable(kind)) return [];
    return rowsOf(sql<Entry[]>`
      select ${sql.unsafe(ENTRY_COLUMNS)}
      from entries
      where kind = ${kind}
        and due_at <= ${now}
        ${after ? sql`and (due_at, id, tenant) > (${after.dueAt}, ${after.id}, ${after.tenant})` : sql``}
      order by due_at, id, tenant
      limit ${limit}
    `);
  },
  async nextDueAt(kind) {
    if (!areStorable(kind)) return null;
    const [found] = await sql<{ dueAt: number | null }[]>`
      select min(due_at) as "dueAt" from entries where kind = ${kind} and due_at is not null
    `;
    return found?.dueAt ?? null;
  },
  async all(kind, after, limit) {
    if (!areStorable(kind, after?.tenant, after?.id)) return [];
    return rowsOf(sql<Entry[]>`
      select ${sql.unsafe(ENTRY_COLUMNS)}
      from entries
      where kind = ${kind}
        ${after ? sql`and (tenant, id) > (${after.tenant}, ${after.id})` : sql``}
      order by tenant, id
      limit ${limit}
    `);
  },
});

/** Unlike other reads, keys may contain texts that cannot be stored; these are not found. */
async function getMany(sql: Sql, keys: readonly EntryKey[], columns: string): Promise<(Entry | null)[]> {
  const storable = keys.filter(({ kind, tenant, id }) => areStorable(kind, tenant, id));
  const wanted = storable.map(({ kind, tenant, id }) => ({ kind, tenant, id }));
  const rows = await sql<Entry[]>`
    select found.*
    from ${rowsAs(sql, 'wanted', wanted, 'kind text, tenant text, id text')}
    cross join lateral (
      select ${sql.unsafe(columns)}
      from entries
      where (kind, tenant, id) = (wanted.kind, wanted.tenant, wanted.id)
    ) as found
  `;
  const found = new Map(rows.map((row) => [entryKey(row), row]));
  return keys.map((key) => found.get(entryKey(key)) ?? null);
}

async function list(sql: Sql, kind: string, tenant: string, filter: EntryFilter): Promise<Entry[]> {
  const { ref, index, beforeId, afterId, oldestFirst, limit, bytesMax } = filter;
  if (!areStorable(kind, tenant, ref, index?.name, index?.value, beforeId, afterId)) return [];
  const table = index ? sql`entry_index` : sql`entries`;
  const order = oldestFirst ? sql`asc` : sql`desc`;
  const page = (columns: string) => sql<Entry[]>`
    select ${sql.unsafe(columns)}
    from entries
    ${index ? sql`join entry_index using (kind, tenant, id)` : sql``}
    where ${table}.kind = ${kind}
      and ${table}.tenant = ${tenant}
      ${ref === undefined ? sql`` : sql`and ref = ${ref}`}
      ${index ? sql`and name = ${index.name} and value = ${index.value}` : sql``}
      ${beforeId === undefined ? sql`` : sql`and ${table}.id < ${beforeId}`}
      ${afterId === undefined ? sql`` : sql`and ${table}.id > ${afterId}`}
    order by ${table}.id ${order}
    limit ${limit}
  `;
  if (bytesMax === undefined) return rowsOf(page(ENTRY_COLUMNS));
  return rowsOf(sql<Entry[]>`
    select ${sql.unsafe(ENTRY_COLUMNS)}
    from (
      select *, sum(bytes) over (order by id ${order}) - bytes as before
      from (${page(`entries.*, ${textBytes('entries.body')} as bytes`)}) as page
    ) as entries
    where before <= ${bytesMax}
    order by id ${order}
  `);
}
