import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isReference } from '../../blob.ts';
import { ENTRY_COLUMNS, ENTRY_COLUMNS_AT_REST } from '../../columns.ts';
import { AFTER_EVERY_TEXT, boundsOf } from '../../index-bounds.ts';
import type {
  Counter,
  CounterRange,
  Entry,
  EntryFilter,
  EntryKey,
  IndexedEntry,
  IndexRange,
} from '../../port.ts';
import { LIMIT, selectAll, selectEach, selectOne } from '../rows.ts';

const BEFORE_EVERY_ID = '';

export function prepareEntryReads(database: DatabaseSync) {
  return {
    ...prepareEntry(database),
    rangeEntries: prepareRangeEntries(database),
    ...prepareCounters(database),
    listEntries: prepareListEntries(database),
    countEntries: prepareCountEntries(database),
    allEntries: prepareAllEntries(database),
    ...prepareDue(database),
  };
}

function prepareEntry(database: DatabaseSync) {
  const reading = (columns: string) => {
    const select = database.prepare(
      `select ${columns} from entries where kind = ? and tenant = ? and id = ?`,
    );
    return ({ kind, tenant, id }: EntryKey) => selectOne<Entry>(select, kind, tenant, id);
  };
  const entry = reading(ENTRY_COLUMNS);
  const atRest = reading(ENTRY_COLUMNS_AT_REST);
  const begin = database.prepare('begin');
  const commit = database.prepare('commit');
  const ofOneMoment = <T>(keys: readonly EntryKey[], read: (key: EntryKey) => T): T[] => {
    begin.run();
    try {
      return keys.map(read);
    } finally {
      commit.run();
    }
  };
  return {
    entry,
    entriesOf: (keys: readonly EntryKey[]) => ofOneMoment(keys, entry),
    smallEntriesOf: (keys: readonly EntryKey[]) =>
      ofOneMoment(keys, (key) => {
        const found = atRest(key);
        return found && isReference(found.body) ? 'large' : found;
      }),
  };
}

function prepareCounters(database: DatabaseSync) {
  const select = database.prepare('select value from counters where kind = ? and tenant = ? and id = ?');
  const selectRange = database.prepare(`
    select id, value from counters
    where kind = ? and tenant = ? and id > ? and id >= ? and id < ?
    order by id
    ${LIMIT}
  `);
  return {
    counter: ({ kind, tenant, id }: EntryKey): number =>
      selectOne<{ value: number }>(select, kind, tenant, id)?.value ?? 0,
    counters: (kind: string, tenant: string, { prefix, afterId = '', limit }: CounterRange): Counter[] =>
      selectAll<Counter>(selectRange, kind, tenant, afterId, prefix, prefix + AFTER_EVERY_TEXT, limit),
  };
}

function prepareRangeEntries(database: DatabaseSync) {
  const prepare = (condition: string) =>
    database.prepare(`
      select ${ENTRY_COLUMNS}, entry_index.value
      from entry_index
      cross join entries using (kind, tenant, id)
      where entry_index.kind = ? and entry_index.tenant = ? and name = ? and value >= ? and value < ? ${condition}
      order by value, entry_index.id
      ${LIMIT}
    `);
  const first = prepare('');
  const next = prepare('and (value, entry_index.id) > (?, ?)');
  return (kind: string, tenant: string, range: IndexRange): IndexedEntry[] => {
    const [from, to] = boundsOf(range);
    const { name, after, limit } = range;
    if (!after) return selectAll<IndexedEntry>(first, kind, tenant, name, from, to, limit);
    return selectAll<IndexedEntry>(next, kind, tenant, name, from, to, after.value, after.id, limit);
  };
}

/** One statement for each shape of the filter, so that each is a range of one index. */
function prepareListEntries(database: DatabaseSync) {
  const prepare = (from: string, condition: string) => {
    const table = from.split(' ')[0];
    const ordered = (order: 'asc' | 'desc') =>
      database.prepare(`
        select ${ENTRY_COLUMNS}
        from ${from}
        where ${table}.kind = ? and ${table}.tenant = ? and ${table}.id < ? and ${table}.id > ? ${condition}
        order by ${table}.id ${order}
        ${LIMIT}
      `);
    return { newestFirst: ordered('desc'), oldestFirst: ordered('asc') };
  };
  const any = prepare('entries', '');
  const ofRef = prepare('entries', 'and ref = ?');
  const ofIndex = prepare(
    'entry_index cross join entries using (kind, tenant, id)',
    'and name = ? and value = ?',
  );
  return (
    kind: string,
    tenant: string,
    { ref, index, beforeId, afterId, oldestFirst, limit, bytesMax }: EntryFilter,
  ): Entry[] => {
    const order = oldestFirst ? 'oldestFirst' : 'newestFirst';
    const range = [kind, tenant, beforeId ?? AFTER_EVERY_TEXT, afterId ?? BEFORE_EVERY_ID];
    const page = (select: StatementSync, ...of: string[]): Entry[] =>
      bytesMax === undefined
        ? selectAll<Entry>(select, ...range, ...of, limit)
        : upTo(bytesMax, selectEach<Entry>(select, ...range, ...of, limit));
    if (index) return page(ofIndex[order], index.name, index.value);
    return ref === undefined ? page(any[order]) : page(ofRef[order], ref);
  };
}

function upTo(bytesMax: number, entries: Iterable<Entry>): Entry[] {
  const page: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    page.push(entry);
    bytes += Buffer.byteLength(entry.body);
    if (bytes > bytesMax) break;
  }
  return page;
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
