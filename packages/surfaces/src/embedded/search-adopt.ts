/**
 * Indexes that versions before kept in `retrieval.db`, those of all tenants together. A tenant's come into its own file
 * before that is first used.
 *
 * I1  An index is copied in one transaction, and goes from `retrieval.db` only afterwards. So one that is in both
 *     files was copied whole, and nothing has changed it since.
 * I2  So does the journal: a call that was answered before is answered the same after.
 */
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Fields, SearchDocument, SearchLimits } from '../ports/search.ts';
import { factsOf, type OpenFile } from './database-files.ts';
import { openForWriting } from './open-file.ts';
import { findingSearchIndex, gramsTable, type SearchIndex, wordsTable } from './search-indexes.ts';
import { searchWrites } from './search-writes.ts';

/** Rows that are read, or deleted, at a time: who writes vectors waits for one such step at most. */
const STEP = 1_000;
/** They were let in before. */
const UNLIMITED: SearchLimits = { documentsMax: Infinity, indexesMax: Infinity, quotaBytes: Infinity };

type OldIndex = Pick<SearchIndex, 'id'> & { readonly name: string };

export interface OldIndexes {
  has(tenant: string): boolean;
  adopt(tenant: string): void;
  close(): void;
}

export function openOldIndexes(file: OpenFile): OldIndexes {
  const facts = factsOf({ ...file, file: 'retrieval' });
  if (!existsSync(facts.path)) return { has: () => false, adopt: () => {}, close: () => {} };
  const old = openForWriting(facts);
  const rows = old.prepare('select distinct tenant from search_indexes').all();
  const tenants = new Set(rows.map(({ tenant }) => String(tenant)));
  const drop = dropping(old);
  return {
    has: (tenant) => tenants.has(tenant),
    adopt(tenant) {
      if (!tenants.has(tenant)) return;
      const own = openForWriting(factsOf(file, tenant));
      try {
        move(old, own, tenant, drop);
      } finally {
        own.close();
      }
      tenants.delete(tenant);
    },
    close: () => old.close(),
  };
}

function move(
  old: DatabaseSync,
  own: DatabaseSync,
  tenant: string,
  drop: (tenant: string, index: OldIndex) => void,
): void {
  const isThere = findingSearchIndex(own);
  const copy = copying(old, own);
  const indexes = old.prepare('select id, name from search_indexes where tenant = ?').all(tenant);
  inTransaction(own, () => copyJournal(old, own, tenant));
  for (const row of indexes) {
    const index = { id: Number(row.id), name: String(row.name) };
    if (!isThere(tenant, index.name)) inTransaction(own, () => copy(tenant, index));
    drop(tenant, index);
  }
}

/** I2. Calls of other surfaces that are among them do no harm, and are forgotten with time. */
function copyJournal(old: DatabaseSync, own: DatabaseSync, tenant: string): void {
  const record = own.prepare('insert or ignore into invocations values (?, ?, ?, ?, ?, ?)');
  const rows = old
    .prepare(`
      select tenant, place, method, fingerprint, answer, recorded_at from invocations where tenant = ?
    `)
    .iterate(tenant);
  for (const row of rows) record.run(...Object.values(row));
}

function copying(old: DatabaseSync, own: DatabaseSync) {
  const { index: save } = searchWrites(own);
  const page = old.prepare(`
    select seq, id, json(doc) as doc from search_documents where idx = ? and seq > ? order by seq limit ${STEP}
  `);
  return (tenant: string, { id, name }: OldIndex): void => {
    let [after, isLast] = [0, false];
    while (!isLast) {
      const rows = page.all(id, after);
      const documents = rows.map(
        (row): SearchDocument => ({ id: String(row.id), fields: JSON.parse(String(row.doc)) as Fields }),
      );
      save(tenant, name, { documents, limits: UNLIMITED });
      after = Number(rows.at(-1)?.seq);
      isLast = rows.length < STEP;
    }
  };
}

function dropping(old: DatabaseSync) {
  const some = old.prepare(`
    delete from search_documents where seq in (select seq from search_documents where idx = ? limit ${STEP})
  `);
  const forget = old.prepare('delete from search_indexes where tenant = ? and id = ?');
  return (tenant: string, index: OldIndex): void => {
    while (Number(inTransaction(old, () => some.run(index.id).changes)) === STEP);
    inTransaction(old, () => {
      for (const tableOf of [wordsTable, gramsTable]) old.exec(`drop table ${tableOf(index)}`);
      forget.run(tenant, index.id);
    });
  };
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin immediate');
  try {
    const value = work();
    database.exec('commit');
    return value;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
