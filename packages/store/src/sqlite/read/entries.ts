import type { DatabaseSync } from 'node:sqlite';
import { isReference } from '../../blob.ts';
import { ENTRY_COLUMNS, ENTRY_COLUMNS_AT_REST } from '../../columns.ts';
import { AFTER_EVERY_TEXT, boundsOf } from '../../index-bounds.ts';
import type { Counter, Entry, EntryKey, EntryReads, IndexedEntry } from '../../port.ts';
import type { Sync } from '../channel.ts';
import { LIMIT, prepareMoment, queriesOn } from '../rows.ts';

/** Sorts before every page: no entry has an empty id. */
const FIRST = { tenant: '', id: '', dueAt: Number.MIN_SAFE_INTEGER };

export function entryReads(database: DatabaseSync): Sync<EntryReads> {
  const { one, all } = queriesOn(database);
  const ofOneMoment = prepareMoment(database);
  const reading = (columns: string) => {
    const read = one<Entry>(`select ${columns} from entries where kind = ? and tenant = ? and id = ?`);
    return ({ kind, tenant, id }: EntryKey) => read(kind, tenant, id);
  };
  const get = reading(ENTRY_COLUMNS);
  const getAtRest = reading(ENTRY_COLUMNS_AT_REST);
  const countOf = one<{ count: number }>(
    'select count(*) as count from entries where kind = ? and tenant = ?',
  );
  const nextDue = one<{ dueAt: number | null }>(`
    select min(due_at) as dueAt from entries where kind = ? and due_at is not null
  `);
  const due = all<Entry>(`
    select ${ENTRY_COLUMNS}
    from entries
    where kind = ? and due_at <= ? and (due_at, id, tenant) > (?, ?, ?)
    order by due_at, id, tenant
    ${LIMIT}
  `);
  const allOf = all<Entry>(`
    select ${ENTRY_COLUMNS} from entries where kind = ? and (tenant, id) > (?, ?) order by tenant, id ${LIMIT}
  `);
  return {
    get,
    getMany: (keys) => ofOneMoment(() => keys.map(get)),
    getSmall: (keys) =>
      ofOneMoment(() =>
        keys.map((key) => {
          const found = getAtRest(key);
          return found && isReference(found.body) ? 'large' : found;
        }),
      ),
    list: prepareList(database),
    range: prepareRange(database),
    count: (kind, tenant) => countOf(kind, tenant)?.count ?? 0,
    ...counterReads(database),
    due: (kind, now, limit, after) => {
      const { dueAt, id, tenant } = after ?? FIRST;
      return due(kind, now, dueAt, id, tenant, limit);
    },
    nextDueAt: (kind) => nextDue(kind)?.dueAt ?? null,
    all: (kind, after, limit) => allOf(kind, (after ?? FIRST).tenant, (after ?? FIRST).id, limit),
  };
}

function counterReads(database: DatabaseSync): Sync<Pick<EntryReads, 'counter' | 'counters'>> {
  const { one, all } = queriesOn(database);
  const value = one<Counter>('select value from counters where kind = ? and tenant = ? and id = ?');
  const range = all<Counter>(`
    select id, value from counters
    where kind = ? and tenant = ? and id > ? and id >= ? and id < ?
    order by id
    ${LIMIT}
  `);
  return {
    counter: ({ kind, tenant, id }) => value(kind, tenant, id)?.value ?? 0,
    counters: (kind, tenant, { prefix, afterId = '', limit }) =>
      range(kind, tenant, afterId, prefix, prefix + AFTER_EVERY_TEXT, limit),
  };
}

function prepareRange(database: DatabaseSync): Sync<EntryReads>['range'] {
  const page = queriesOn(database).all<IndexedEntry>(`
    select ${ENTRY_COLUMNS}, entry_index.value
    from entry_index
    cross join entries using (kind, tenant, id)
    where entry_index.kind = ? and entry_index.tenant = ? and name = ? and (value, entry_index.id) > (?, ?) and value < ?
    order by value, entry_index.id
    ${LIMIT}
  `);
  return (kind, tenant, range) => {
    const [from, to] = boundsOf(range);
    const { name, after = { value: from, id: FIRST.id }, limit } = range;
    return page(kind, tenant, name, after.value, after.id, to, limit);
  };
}

/** A separate statement for each form of the filter, so that each is a range of one index. */
function prepareList(database: DatabaseSync): Sync<EntryReads>['list'] {
  const { all, each } = queriesOn(database);
  const prepare = (from: string, condition: string) => {
    const table = from.split(' ')[0];
    const ordered = (order: 'asc' | 'desc') => {
      const text = `
        select ${ENTRY_COLUMNS}
        from ${from}
        where ${table}.kind = ? and ${table}.tenant = ? and ${table}.id < ? and ${table}.id > ? ${condition}
        order by ${table}.id ${order}
        ${LIMIT}
      `;
      return { all: all<Entry>(text), each: each<Entry>(text) };
    };
    return { newestFirst: ordered('desc'), oldestFirst: ordered('asc') };
  };
  const any = prepare('entries', '');
  const ofRef = prepare('entries', 'and ref = ?');
  const ofIndex = prepare(
    'entry_index cross join entries using (kind, tenant, id)',
    'and name = ? and value = ?',
  );
  return (kind, tenant, { ref, index, beforeId, afterId, oldestFirst, limit, bytesMax }) => {
    const shape = index ? ofIndex : ref === undefined ? any : ofRef;
    const page = shape[oldestFirst ? 'oldestFirst' : 'newestFirst'];
    const of = index ? [index.name, index.value] : ref === undefined ? [] : [ref];
    const values = [kind, tenant, beforeId ?? AFTER_EVERY_TEXT, afterId ?? FIRST.id, ...of, limit];
    return bytesMax === undefined ? page.all(...values) : upTo(bytesMax, page.each(...values));
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
