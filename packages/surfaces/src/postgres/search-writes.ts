/** Writes of the search port in PostgreSQL. Each locks the row of its index, so writers of one index are serialized. */
import { checkRoom, noIndex, tooManyIndexes } from '../capabilities/search/refusals.ts';
import type { SearchDocument, SearchLimits } from '../ports/search.ts';
import type { Tx } from './connection.ts';
import {
  batchesOf,
  type SearchIndex,
  type SearchRow,
  searchIndex,
  searchRows,
  type Target,
} from './search-indexes.ts';
import { column } from './together.ts';
import { countUsage, takeTurn } from './usage.ts';

interface Amount {
  readonly many: number;
  readonly words: number;
  readonly bytes: number;
}

/** The documents to index, with the rows computed for an index of this id. */
interface Indexing {
  readonly documents: readonly SearchDocument[];
  readonly id: number;
  readonly rows: readonly SearchRow[];
}

export function searchWrites(limits: SearchLimits) {
  return {
    async index(tx: Tx, target: Target, { documents, id, rows }: Indexing): Promise<{ indexed: number }> {
      const index = await indexFor(tx, target, { limits, id });
      const before = await amountOf(tx, index, rows);
      const after = await save(tx, index, index.id === id ? rows : await searchRows(index, last(documents)));
      const added = after.many - before.many;
      const usedBytes = await count(tx, target, index, {
        many: added,
        words: after.words - before.words,
        bytes: after.bytes - before.bytes,
      });
      checkRoom({ documents: index.documents + added, usedBytes }, limits);
      return { indexed: documents.length };
    },
    async delete(tx: Tx, target: Target, ids: readonly string[]): Promise<{ deleted: number }> {
      const index = await searchIndex(tx, target, 'for update');
      if (!index) throw noIndex(target.name);
      const [gone] = await tx<Amount[]>`
        with gone as
          (delete from search_documents where idx = ${index.id} and id = any(${ids}::text[]) returning words, bytes)
        select count(*) as many, coalesce(sum(words), 0)::bigint as words, coalesce(sum(bytes), 0)::bigint as bytes
        from gone
      `;
      const { many, words, bytes } = gone!;
      await count(tx, target, index, { many: -many, words: -words, bytes: -bytes });
      return { deleted: many };
    },
  };
}

/** The last document with an id wins. */
export const last = (documents: readonly SearchDocument[]): SearchDocument[] => [
  ...new Map(documents.map((document) => [document.id, document])).values(),
];

/** Creation is serialized, which keeps the limit; other writers then lock the created index. */
async function indexFor(
  tx: Tx,
  target: Target,
  { limits, id }: { readonly limits: SearchLimits; readonly id: number },
): Promise<SearchIndex> {
  const there = await searchIndex(tx, target, 'for update');
  if (there) return there;
  const { tenant, name } = target;
  await takeTurn(tx, 'search_indexes', tenant);
  const madeMeanwhile = await searchIndex(tx, target, 'for update');
  if (madeMeanwhile) return madeMeanwhile;
  const isFull = async (): Promise<boolean> => {
    const [row] = await tx<{ many: number }[]>`
      select count(*) as many from search_indexes where tenant = ${tenant}
    `;
    return row!.many >= limits.indexesMax;
  };
  if (await isFull()) {
    await tx`
      delete from search_indexes where id in
        (select id from search_indexes where tenant = ${tenant} and documents = 0 for update skip locked)
    `;
    if (await isFull()) throw tooManyIndexes(limits);
  }
  await tx`
    insert into search_indexes (id, tenant, name) overriding system value values (${id}, ${tenant}, ${name})
    on conflict do nothing
  `;
  return (await searchIndex(tx, target, 'for update'))!;
}

async function amountOf(tx: Tx, { id }: SearchIndex, rows: readonly SearchRow[]): Promise<Amount> {
  const ids = rows.map((row) => row.id);
  const [row] = await tx<Amount[]>`
    select count(*) as many, coalesce(sum(words), 0)::bigint as words, coalesce(sum(bytes), 0)::bigint as bytes
    from search_documents where idx = ${id} and id = any(${ids}::text[])
  `;
  return row!;
}

async function save(tx: Tx, index: SearchIndex, rows: readonly SearchRow[]): Promise<Amount> {
  for (const batch of batchesOf(rows)) await saveBatch(tx, index, batch);
  const sum = (of: 'words' | 'bytes'): number => rows.reduce((total, row) => total + row[of], 0);
  return { many: rows.length, words: sum('words'), bytes: sum('bytes') };
}

async function saveBatch(tx: Tx, index: SearchIndex, rows: readonly SearchRow[]): Promise<void> {
  await tx`
    insert into search_documents (idx, id, doc, folded, words, lexemes, grams, bytes)
    select ${index.id}, id, doc::jsonb, folded, words, lexemes::tsvector, grams::integer[], bytes
    from unnest(${column(rows, 'id')}::text[], ${column(rows, 'doc')}::text[], ${column(rows, 'folded')}::text[],
      ${column(rows, 'words')}::integer[], ${column(rows, 'lexemes')}::text[], ${column(rows, 'grams')}::text[],
      ${column(rows, 'bytes')}::bigint[]) as given (id, doc, folded, words, lexemes, grams, bytes)
    on conflict (idx, id) do update set doc = excluded.doc, folded = excluded.folded, words = excluded.words,
      lexemes = excluded.lexemes, grams = excluded.grams, bytes = excluded.bytes
  `;
}

/** Answers the bytes that the tenant uses now. */
async function count(tx: Tx, { tenant }: Target, { id }: SearchIndex, grown: Amount): Promise<number> {
  await tx`
    update search_indexes set documents = documents + ${grown.many}, words = words + ${grown.words}
    where id = ${id}
  `;
  return countUsage(tx, { area: 'search', tenant, part: id, grown: grown.bytes });
}
