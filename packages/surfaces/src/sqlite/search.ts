/** The search port in the embedded database: FTS5. */
import { QueryText } from '../capabilities/documents/query-sql.ts';
import type { ParsedQuery, Term } from '../capabilities/search/parse-query.ts';
import { noIndex } from '../capabilities/search/refusals.ts';
import { fewGramsOf, partScore } from '../capabilities/search/words.ts';
import type { SearchHit, SearchLimits, SearchPort, SearchQuery } from '../ports/search.ts';
import type { EmbeddedDatabase } from './database.ts';
import { SQLITE } from './document-sql.ts';
import { findSearchIndex, gramsTable, type SearchIndex, searchWrites, wordsTable } from './search-writes.ts';
import { defineArea, inSnapshot, rangeOf, type Sql } from './statements.ts';

type Search = Omit<SearchQuery, 'index'>;

interface Found {
  readonly seq: number;
  readonly score: number;
}

export const searchArea = defineArea({
  reads: (sql) => ({
    query: (tenant: string, name: string, search: Search): SearchHit[] =>
      inSnapshot(sql, () => {
        const index = findSearchIndex(sql, tenant, name);
        if (!index) throw noIndex(name);
        if (index.documents === 0) return [];
        const byWords = findWords(sql, index, search);
        const known = new Set(byWords.map(({ seq }) => seq));
        const byPart = known.size === search.k ? [] : findPart(sql, index, search, known);
        return [...byWords, ...byPart].map((found) => hitOf(sql, found));
      }),
    ping: (): null => null,
  }),
  writes: searchWrites,
});

function hitOf(sql: Sql, { seq, score }: Found): SearchHit {
  const { id, doc } = sql.get<{ id: string; doc: string }>`
    select id, json(doc) as doc from search_documents where seq = ${seq}
  `!;
  return { id, score, fields: JSON.parse(doc) };
}

/** Words contain only letters and digits. */
const phrase = ({ words, isPrefix }: Term): string => `"${words.join(' ')}"${isPrefix ? '*' : ''}`;
const anyOf = (terms: readonly Term[]): string => `(${terms.map(phrase).join(' OR ')})`;

const expression = ({ any, none }: ParsedQuery): string =>
  none.length === 0 ? anyOf(any) : `${anyOf(any)} NOT ${anyOf(none)}`;

/** Equal scores are ordered by id; ids are read only for the best documents. */
function findWords(sql: Sql, index: SearchIndex, { query, k, filter }: Search): Found[] {
  if (query.any.length === 0) return [];
  const table = wordsTable(index);
  const text = new QueryText(SQLITE);
  const matching = `${table} match ${text.bind(expression(query))}`;
  const isAny = filter.kind === 'all' && filter.of.length === 0;
  // Without a filter the match reads no documents
  const [from, where] = isAny
    ? [table, matching]
    : [`${table} join search_documents on seq = ${table}.rowid`, `${matching} and ${text.condition(filter)}`];
  const best = `
    with found as materialized (select ${table}.rowid as found_seq, rank as score from ${from} where ${where}),
      best as materialized (select score from found order by score ${text.limit(k)})
    select seq, score from found join search_documents on seq = found_seq
    where score <= (select max(score) from best) order by score, id ${text.limit(k)}
  `;
  return sql.select<Found>(best, text.params).map(({ seq, score }) => ({ seq, score: -score }));
}

/**
 * Measured for 100,000 documents of 500 bytes: a part of three characters or more takes 10 ms; a shorter one
 * reads all documents: 100.
 */
function findPart(
  sql: Sql,
  index: SearchIndex,
  { query, k, filter }: Search,
  known: ReadonlySet<number>,
): Found[] {
  const text = new QueryText(SQLITE);
  const [first, after] = rangeOf(index.id);
  const grams = fewGramsOf(query.literal).map((gram) => `"${gram.replaceAll('"', '""')}"`);
  const table = gramsTable(index);
  const within =
    grams.length === 0
      ? `seq >= ${text.bind(first)} and seq < ${text.bind(after)}`
      : `seq in (select rowid from ${table} where ${table} match ${text.bind(grams.join(' AND '))})`;
  const where = `${within} and instr(folded, ${text.bind(query.literal)}) > 0 and ${text.condition(filter)}`;
  const shortest = `
    select seq, length(folded) as length from search_documents where ${where}
    order by length, id ${text.limit(k)}
  `;
  return sql
    .select<{ seq: number; length: number }>(shortest, text.params)
    .map(({ seq, length }) => ({ seq, score: partScore(query.literal.length, length) }))
    .filter(({ seq }) => !known.has(seq))
    .slice(0, k - known.size);
}

export function embeddedSearch(database: EmbeddedDatabase, limits: SearchLimits): SearchPort {
  return {
    index: ({ index, documents }, call) =>
      database.write('search', 'index', call, call.tenant, index, { documents, limits }),
    query: ({ index, ...search }, { tenant }) => database.read('search', 'query', tenant, index, search),
    delete: ({ index, ids }, call) => database.write('search', 'delete', call, call.tenant, index, ids),
    health: async () => void (await database.read('search', 'ping')),
  };
}
