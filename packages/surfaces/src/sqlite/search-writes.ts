/** Writes of the search port. A document, its words and its grams change together, in one transaction. */
import { checkRoom, noIndex, tooManyIndexes } from '../capabilities/search/refusals.ts';
import { foldedFields, wordsOfFields } from '../capabilities/search/words.ts';
import type { SearchDocument, SearchLimits } from '../ports/search.ts';
import { bytesOf } from '../text.ts';
import { sortedJson } from './document-sql.ts';
import { type Sql, sequenceOf } from './statements.ts';

/** Measured size of an empty index on disk. */
const INDEX_BYTES = 40_960;

interface Indexing {
  readonly documents: readonly SearchDocument[];
  readonly limits: SearchLimits;
}

export const searchWrites = (sql: Sql) => ({
  index(tenant: string, name: string, { documents, limits }: Indexing): { indexed: number } {
    save(sql, findSearchIndex(sql, tenant, name) ?? make(sql, tenant, name, limits), documents);
    const usedBytes = sql.number`
      select bytes + ${INDEX_BYTES} * (select count(*) from search_indexes where tenant = usage.tenant)
      from usage where area = 'search' and tenant = ${tenant}
    `;
    checkRoom({ documents: findSearchIndex(sql, tenant, name)!.documents, usedBytes }, limits);
    return { indexed: documents.length };
  },
  delete(tenant: string, name: string, ids: readonly string[]): { deleted: number } {
    const index = findSearchIndex(sql, tenant, name);
    if (!index) throw noIndex(name);
    const gone = ids.flatMap(
      (id) => sql.all<Seq>`delete from search_documents where idx = ${index.id} and id = ${id} returning seq`,
    );
    for (const { seq } of gone) removeText(sql, index, seq);
    return { deleted: gone.length };
  },
});

interface Seq {
  readonly seq: number;
}

/**
 * The words are already tokens. The table stores them, because without content FTS5 counts deleted documents
 * in its scores. Grams need no positions.
 */
function make(sql: Sql, tenant: string, name: string, limits: SearchLimits): SearchIndex {
  const isFull = (): boolean =>
    sql.number`select count(*) from search_indexes where tenant = ${tenant}` >= limits.indexesMax;
  if (isFull())
    for (const empty of sql.all<Pick<SearchIndex, 'id'>>`
      delete from search_indexes where tenant = ${tenant} and documents = 0 returning id
    `)
      sql.database.exec(`drop table ${wordsTable(empty)}; drop table ${gramsTable(empty)}`);
  if (isFull()) throw tooManyIndexes(limits);
  sql.run`insert into search_indexes (tenant, name) values (${tenant}, ${name})`;
  const made = findSearchIndex(sql, tenant, name)!;
  sql.database.exec(`
    create virtual table ${wordsTable(made)} using fts5(
      words, tokenize='ascii'
    );
    create virtual table ${gramsTable(made)} using fts5(
      folded, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
    );
  `);
  return made;
}

function removeText(sql: Sql, index: SearchIndex, seq: number): void {
  for (const table of [wordsTable(index), gramsTable(index)])
    sql.prepare(`delete from ${table} where rowid = ?`).run(seq);
}

function save(sql: Sql, index: SearchIndex, documents: readonly SearchDocument[]): void {
  let row = index.next;
  for (const { id, fields } of documents) {
    const doc = sortedJson(fields);
    const folded = foldedFields(fields);
    const bytes = bytesOf(id) + bytesOf(doc);
    const there = sql.get<Seq>`select seq from search_documents where idx = ${index.id} and id = ${id}`;
    const seq = there?.seq ?? sequenceOf(index.id, row++);
    if (there) {
      sql.run`update search_documents set doc = jsonb(${doc}), folded = ${folded}, bytes = ${bytes} where seq = ${seq}`;
      removeText(sql, index, seq);
    } else
      sql.run`insert into search_documents values (${seq}, ${index.id}, ${id}, jsonb(${doc}), ${folded}, ${bytes})`;
    const words = wordsOfFields(fields).join(' ');
    sql.prepare(`insert into ${wordsTable(index)} (rowid, words) values (?, ?)`).run(seq, words);
    sql.prepare(`insert into ${gramsTable(index)} (rowid, folded) values (?, ?)`).run(seq, folded);
  }
  sql.run`update search_indexes set next = ${row} where id = ${index.id}`;
}

export interface SearchIndex {
  readonly id: number;
  readonly documents: number;
  readonly next: number;
}

export const findSearchIndex = (sql: Sql, tenant: string, name: string) => sql.get<SearchIndex>`
  select id, documents, next from search_indexes where tenant = ${tenant} and name = ${name}
`;

export const wordsTable = ({ id }: Pick<SearchIndex, 'id'>): string => `search_words_${id}`;
export const gramsTable = ({ id }: Pick<SearchIndex, 'id'>): string => `search_grams_${id}`;
