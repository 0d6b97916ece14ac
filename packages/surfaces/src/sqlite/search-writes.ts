/** Writes of the search port. A document, its words and its grams change together, in one transaction. */
import type { DatabaseSync } from 'node:sqlite';
import { checkRoom, noIndex, tooManyIndexes } from '../capabilities/search/refusals.ts';
import { foldedFields, wordsOfFields } from '../capabilities/search/words.ts';
import type { Fields, SearchDocument, SearchLimits } from '../ports/search.ts';
import { bytesOf } from '../text.ts';
import { sortedJson } from './document-sql.ts';
import { preparing, sequenceOf } from './statements.ts';

/** What an index without documents takes on the disk, measured. */
const INDEX_BYTES = 40_960;

interface Indexing {
  readonly documents: readonly SearchDocument[];
  readonly limits: SearchLimits;
}

export function searchWrites(database: DatabaseSync) {
  const indexOf = findingSearchIndex(database);
  const indexFor = makingIndex(database);
  const prepare = preparing(database);
  const save = saving(database, prepare);
  const used = database.prepare(`
    select bytes + ${INDEX_BYTES} * (select count(*) from search_indexes where tenant = usage.tenant) as bytes
    from usage where area = 'search' and tenant = ?
  `);
  const remove = database.prepare('delete from search_documents where idx = ? and id = ? returning seq');
  return {
    index(tenant: string, name: string, { documents, limits }: Indexing): { indexed: number } {
      save(indexFor(tenant, name, limits), documents);
      const usedBytes = Number(used.get(tenant)?.bytes);
      checkRoom({ documents: indexOf(tenant, name)!.documents, usedBytes }, limits);
      return { indexed: documents.length };
    },
    delete(tenant: string, name: string, ids: readonly string[]): { deleted: number } {
      const index = indexOf(tenant, name);
      if (!index) throw noIndex(name);
      const text = texts(prepare, index);
      const gone = ids.flatMap((id) => remove.all(index.id, id).map(({ seq }) => Number(seq)));
      for (const seq of gone) text.remove(seq);
      return { deleted: gone.length };
    },
  };
}

/**
 * Words are tokens already. They are kept, since FTS5 would else count deleted documents in its scores. Grams need no
 * positions.
 */
function makingIndex(database: DatabaseSync) {
  const indexOf = findingSearchIndex(database);
  const many = database.prepare('select count(*) as many from search_indexes where tenant = ?');
  const dropEmpty = database.prepare(
    'delete from search_indexes where tenant = ? and documents = 0 returning id',
  );
  const make = database.prepare('insert into search_indexes (tenant, name) values (?, ?)');
  return (tenant: string, name: string, limits: SearchLimits): SearchIndex => {
    const there = indexOf(tenant, name);
    if (there) return there;
    const isFull = (): boolean => Number(many.get(tenant)?.many) >= limits.indexesMax;
    for (const { id } of isFull() ? dropEmpty.all(tenant) : [])
      for (const tableOf of [wordsTable, gramsTable])
        database.exec(`drop table ${tableOf({ id: Number(id) })}`);
    if (isFull()) throw tooManyIndexes(limits);
    make.run(tenant, name);
    const made = indexOf(tenant, name)!;
    database.exec(`
      create virtual table ${wordsTable(made)} using fts5(
        words, tokenize='ascii'
      );
      create virtual table ${gramsTable(made)} using fts5(
        folded, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
      );
    `);
    return made;
  };
}

function texts(prepare: ReturnType<typeof preparing>, index: SearchIndex) {
  const [words, grams] = [wordsTable(index), gramsTable(index)];
  const addWords = prepare(`insert into ${words} (rowid, words) values (?, ?)`);
  const addGrams = prepare(`insert into ${grams} (rowid, folded) values (?, ?)`);
  const removeWords = prepare(`delete from ${words} where rowid = ?`);
  const removeGrams = prepare(`delete from ${grams} where rowid = ?`);
  return {
    add(seq: number, { fields, folded }: { readonly fields: Fields; readonly folded: string }): void {
      addWords.run(seq, wordsOfFields(fields).join(' '));
      addGrams.run(seq, folded);
    },
    remove(seq: number): void {
      removeWords.run(seq);
      removeGrams.run(seq);
    },
  };
}

function saving(database: DatabaseSync, prepare: ReturnType<typeof preparing>) {
  const find = database.prepare('select seq from search_documents where idx = ? and id = ?');
  const insert = database.prepare('insert into search_documents values (?, ?, ?, jsonb(?), ?, ?)');
  const replace = database.prepare(
    'update search_documents set doc = jsonb(?), folded = ?, bytes = ? where seq = ?',
  );
  const advance = database.prepare('update search_indexes set next = ? where id = ?');
  return (index: SearchIndex, documents: readonly SearchDocument[]): void => {
    const text = texts(prepare, index);
    let row = index.next;
    for (const { id, fields } of documents) {
      const doc = sortedJson(fields);
      const folded = foldedFields(fields);
      const bytes = bytesOf(id) + bytesOf(doc);
      const there = find.get(index.id, id);
      const seq = there ? Number(there.seq) : sequenceOf(index.id, row++);
      if (there) {
        replace.run(doc, folded, bytes, seq);
        text.remove(seq);
      } else insert.run(seq, index.id, id, doc, folded, bytes);
      text.add(seq, { fields, folded });
    }
    advance.run(row, index.id);
  };
}

export interface SearchIndex {
  readonly id: number;
  readonly documents: number;
  readonly next: number;
}

export function findingSearchIndex(database: DatabaseSync) {
  const find = database.prepare(
    'select id, documents, next from search_indexes where tenant = ? and name = ?',
  );
  return (tenant: string, name: string): SearchIndex | null => {
    const row = find.get(tenant, name);
    return row ? { id: Number(row.id), documents: Number(row.documents), next: Number(row.next) } : null;
  };
}

export const wordsTable = ({ id }: Pick<SearchIndex, 'id'>): string => `search_words_${id}`;
export const gramsTable = ({ id }: Pick<SearchIndex, 'id'>): string => `search_grams_${id}`;
