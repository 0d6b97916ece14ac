import { isStorable } from '../../check.ts';
import { ENTRY_COLUMNS } from '../../columns.ts';
import type { Entry, EntryFilter, EntryKey, EntryReads } from '../../port.ts';
import type { Sql } from '../sql.ts';

export const entryReads = (sql: Sql): EntryReads => ({
  get: (key) => get(sql, key),
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

async function list(sql: Sql, kind: string, tenant: string, filter: EntryFilter): Promise<Entry[]> {
  const { ref, beforeId, afterId, oldestFirst, limit } = filter;
  if (![kind, tenant, ref ?? '', beforeId ?? '', afterId ?? ''].every(isStorable)) return [];
  const rows = await sql<Entry[]>`
    select ${sql.unsafe(ENTRY_COLUMNS)}
    from entries
    where kind = ${kind}
      and tenant = ${tenant}
      ${ref === undefined ? sql`` : sql`and ref = ${ref}`}
      ${beforeId === undefined ? sql`` : sql`and id < ${beforeId}`}
      ${afterId === undefined ? sql`` : sql`and id > ${afterId}`}
    order by id ${oldestFirst ? sql`asc` : sql`desc`}
    limit ${limit}
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
