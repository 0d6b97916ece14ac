import { isReference, textBytes } from '../../blob.ts';
import { isStorable } from '../../check.ts';
import { ENTRY_COLUMNS, ENTRY_COLUMNS_AT_REST } from '../../columns.ts';
import { entryKey } from '../../entry.ts';
import { AFTER_EVERY_TEXT, boundsOf } from '../../index-bounds.ts';
import type {
  Counter,
  CounterRange,
  Entry,
  EntryFilter,
  EntryKey,
  EntryReads,
  IndexedEntry,
  IndexRange,
} from '../../port.ts';
import { rowsJson, type Sql } from '../sql.ts';

export const entryReads = (sql: Sql): EntryReads => ({
  get: (key) => get(sql, key),
  getMany: (keys) => getMany(sql, keys, ENTRY_COLUMNS),
  async getSmall(keys) {
    const found = await getMany(sql, keys, ENTRY_COLUMNS_AT_REST);
    return found.map((entry) => (entry && isReference(entry.body) ? 'large' : entry));
  },
  range: (kind, tenant, of) => range(sql, kind, tenant, of),
  counter: (key) => counter(sql, key),
  counters: (kind, tenant, range) => counters(sql, kind, tenant, range),
  list: (kind, tenant, filter) => list(sql, kind, tenant, filter),
  count: (kind, tenant) => count(sql, kind, tenant),
  due: (kind, now, limit, after) => due(sql, kind, now, limit, after),
  nextDueAt: (kind) => nextDueAt(sql, kind),
  all: (kind, after, limit) => all(sql, kind, after, limit),
});

async function get(sql: Sql, { kind, tenant, id }: EntryKey): Promise<Entry | null> {
  if (![kind, tenant, id].every(isStorable)) return null;
  const [found] = await sql<Entry[]>`
    select ${sql.unsafe(ENTRY_COLUMNS)}
    from entries
    where kind = ${kind} and tenant = ${tenant} and id = ${id}
  `;
  return found ?? null;
}

/** Unlike the others it may be asked for what cannot be stored, which is not there. */
async function getMany(sql: Sql, keys: readonly EntryKey[], columns: string): Promise<(Entry | null)[]> {
  const storable = keys.filter(({ kind, tenant, id }) => [kind, tenant, id].every(isStorable));
  const wanted = storable.map(({ kind, tenant, id }) => ({ kind, tenant, id }));
  const rows = await sql<Entry[]>`
    select found.*
    from json_to_recordset(${rowsJson(wanted)}::text::json) as wanted (kind text, tenant text, id text)
    cross join lateral (
      select ${sql.unsafe(columns)}
      from entries
      where (kind, tenant, id) = (wanted.kind, wanted.tenant, wanted.id)
    ) as found
  `;
  const found = new Map(rows.map((row) => [entryKey(row), row]));
  return keys.map((key) => found.get(entryKey(key)) ?? null);
}

async function counter(sql: Sql, { kind, tenant, id }: EntryKey): Promise<number> {
  if (![kind, tenant, id].every(isStorable)) return 0;
  const [found] = await sql<{ value: number }[]>`
    select value from counters where kind = ${kind} and tenant = ${tenant} and id = ${id}
  `;
  return found?.value ?? 0;
}

async function counters(
  sql: Sql,
  kind: string,
  tenant: string,
  { prefix, afterId = '', limit }: CounterRange,
): Promise<Counter[]> {
  if (![kind, tenant, prefix, afterId].every(isStorable)) return [];
  const rows = await sql<Counter[]>`
    select id, value from counters
    where kind = ${kind} and tenant = ${tenant}
      and id > ${afterId} and id >= ${prefix} and id < ${prefix + AFTER_EVERY_TEXT}
    order by id
    limit ${limit}
  `;
  return [...rows];
}

async function range(sql: Sql, kind: string, tenant: string, of: IndexRange): Promise<IndexedEntry[]> {
  const { name, after, limit } = of;
  const [from, to] = boundsOf(of);
  if (![kind, tenant, name, from, to, after?.value ?? '', after?.id ?? ''].every(isStorable)) return [];
  const rows = await sql<IndexedEntry[]>`
    select ${sql.unsafe(ENTRY_COLUMNS)}, entry_index.value
    from entry_index
    join entries using (kind, tenant, id)
    where entry_index.kind = ${kind} and entry_index.tenant = ${tenant} and name = ${name}
      and value >= ${from} and value < ${to}
      ${after ? sql`and (value, entry_index.id) > (${after.value}, ${after.id})` : sql``}
    order by value, entry_index.id
    limit ${limit}
  `;
  return [...rows];
}

async function list(sql: Sql, kind: string, tenant: string, filter: EntryFilter): Promise<Entry[]> {
  const { ref, index, beforeId, afterId, oldestFirst, limit, bytesMax } = filter;
  const texts = [kind, tenant, ref, index?.name, index?.value, beforeId, afterId];
  if (!texts.every((text) => text === undefined || isStorable(text))) return [];
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
  if (bytesMax === undefined) return [...(await page(ENTRY_COLUMNS))];
  const rows = await sql<Entry[]>`
    select ${sql.unsafe(ENTRY_COLUMNS)}
    from (
      select *, sum(bytes) over (order by id ${order}) - bytes as before
      from (${page(`entries.*, ${textBytes('entries.body')} as bytes`)}) as page
    ) as entries
    where before <= ${bytesMax}
    order by id ${order}
  `;
  return [...rows];
}

async function count(sql: Sql, kind: string, tenant: string): Promise<number> {
  if (![kind, tenant].every(isStorable)) return 0;
  const [found] = await sql<[{ count: number }]>`
    select count(*) as count from entries where kind = ${kind} and tenant = ${tenant}
  `;
  return found.count;
}

async function due(sql: Sql, kind: string, now: number, limit: number, after?: Entry): Promise<Entry[]> {
  if (!isStorable(kind)) return [];
  const rows = await sql<Entry[]>`
    select ${sql.unsafe(ENTRY_COLUMNS)}
    from entries
    where kind = ${kind}
      and due_at <= ${now}
      ${after ? sql`and (due_at, id, tenant) > (${after.dueAt}, ${after.id}, ${after.tenant})` : sql``}
    order by due_at, id, tenant
    limit ${limit}
  `;
  return [...rows];
}

async function nextDueAt(sql: Sql, kind: string): Promise<number | null> {
  if (!isStorable(kind)) return null;
  const [found] = await sql<{ dueAt: number | null }[]>`
    select min(due_at) as "dueAt" from entries where kind = ${kind} and due_at is not null
  `;
  return found?.dueAt ?? null;
}

async function all(sql: Sql, kind: string, after: EntryKey | null, limit: number): Promise<Entry[]> {
  if (![kind, after?.tenant ?? '', after?.id ?? ''].every(isStorable)) return [];
  const rows = await sql<Entry[]>`
    select ${sql.unsafe(ENTRY_COLUMNS)}
    from entries
    where kind = ${kind}
      ${after ? sql`and (tenant, id) > (${after.tenant}, ${after.id})` : sql``}
    order by tenant, id
    limit ${limit}
  `;
  return [...rows];
}
