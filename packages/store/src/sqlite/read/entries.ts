import type { DatabaseSync } from 'node:sqlite';
import { ENTRY_COLUMNS } from '../../columns.ts';
import type { Entry, EntryFilter, EntryKey } from '../../port.ts';
import { LIMIT, selectAll, selectOne } from '../rows.ts';
import { AFTER_EVERY_ID } from './runs.ts';

const BEFORE_EVERY_ID = '';

export function prepareEntryReads(database: DatabaseSync) {
  return {
    entry: prepareEntry(database),
    listEntries: prepareListEntries(database),
    countEntries: prepareCountEntries(database),
    allEntries: prepareAllEntries(database),
    ...prepareDue(database),
  };
}

function prepareEntry(database: DatabaseSync) {
  const select = database.prepare(`
    select ${ENTRY_COLUMNS} from entries where kind = ? and tenant = ? and id = ?
  `);
  return ({ kind, tenant, id }: EntryKey) => selectOne<Entry>(select, kind, tenant, id);
}

/** One statement for each shape of the filter, so that each is a range of one index. */
function prepareListEntries(database: DatabaseSync) {
  const prepare = (condition: string, order: 'asc' | 'desc') =>
    database.prepare(`
      select ${ENTRY_COLUMNS}
      from entries
      where kind = ? and tenant = ? and id < ? and id > ? ${condition}
      order by id ${order}
      ${LIMIT}
    `);
  const any = { newestFirst: prepare('', 'desc'), oldestFirst: prepare('', 'asc') };
  const ofRef = {
    newestFirst: prepare('and ref = ?', 'desc'),
    oldestFirst: prepare('and ref = ?', 'asc'),
  };
  return (
    kind: string,
    tenant: string,
    { ref, beforeId, afterId, oldestFirst, limit }: EntryFilter,
  ): Entry[] => {
    const order = oldestFirst ? 'oldestFirst' : 'newestFirst';
    const range = [kind, tenant, beforeId ?? AFTER_EVERY_ID, afterId ?? BEFORE_EVERY_ID];
    if (ref === undefined) return selectAll<Entry>(any[order], ...range, limit);
    return selectAll<Entry>(ofRef[order], ...range, ref, limit);
  };
}

function prepareCountEntries(database: DatabaseSync) {
  const select = database.prepare('select count(*) as count from entries where kind = ? and tenant = ?');
  return (kind: string, tenant: string): number =>
    selectOne<{ count: number }>(select, kind, tenant)?.count ?? 0;
}

function prepareAllEntries(database: DatabaseSync) {
  const prepare = (condition: string) =>
    database.prepare(`
      select ${ENTRY_COLUMNS}
      from entries
      where kind = ? ${condition}
      order by tenant, id
      ${LIMIT}
    `);
  const first = prepare('');
  const next = prepare('and (tenant, id) > (?, ?)');
  return (kind: string, after: EntryKey | null, limit: number): Entry[] =>
    after
      ? selectAll<Entry>(next, kind, after.tenant, after.id, limit)
      : selectAll<Entry>(first, kind, limit);
}

function prepareDue(database: DatabaseSync) {
  const prepare = (condition: string) =>
    database.prepare(`
      select ${ENTRY_COLUMNS}
      from entries
      where kind = ? and due_at <= ? ${condition}
      order by due_at, id, tenant
      ${LIMIT}
    `);
  const first = prepare('');
  const next = prepare('and (due_at, id, tenant) > (?, ?, ?)');
  const selectNext = database.prepare(`
    select min(due_at) as dueAt from entries where kind = ? and due_at is not null
  `);
  return {
    dueEntries: (kind: string, now: number, limit: number, after?: Entry): Entry[] =>
      after
        ? selectAll<Entry>(next, kind, now, after.dueAt, after.id, after.tenant, limit)
        : selectAll<Entry>(first, kind, now, limit),
    nextDueAt: (kind: string): number | null =>
      selectOne<{ dueAt: number | null }>(selectNext, kind)?.dueAt ?? null,
  };
}
