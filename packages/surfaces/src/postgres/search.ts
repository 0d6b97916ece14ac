/** The search port in PostgreSQL: a GIN index finds, BM25 ranks. `ts_rank` ignores word and document frequency. */
import { QueryText } from '../capabilities/documents/query-sql.ts';
import type { ParsedQuery } from '../capabilities/search/parse-query.ts';
import { noIndex } from '../capabilities/search/refusals.ts';
import { fewGramsOf, partScore } from '../capabilities/search/words.ts';
import type { SearchHit, SearchLimits, SearchPort, SearchQuery } from '../ports/search.ts';
import type { PostgresDatabase, Sql } from './connection.ts';
import { documentOf, POSTGRES, runText } from './document-sql.ts';
import {
  gramHashes,
  isWord,
  type SearchIndex,
  searchIndex,
  searchIndexIdFor,
  searchRows,
  termQuery,
} from './search-indexes.ts';
import { last, searchWrites } from './search-writes.ts';

type Search = Omit<SearchQuery, 'index'>;

export function postgresSearch(database: PostgresDatabase, limits: SearchLimits): SearchPort {
  const writes = searchWrites(limits);
  return {
    async index({ index: name, documents }, call) {
      const target = { tenant: call.tenant, name };
      const id = await database.read((sql) => searchIndexIdFor(sql, target));
      const rows = await searchRows({ id }, last(documents));
      return database.write(call, (tx) => writes.index(tx, target, { documents, id, rows }));
    },
    delete: ({ index, ids }, call) =>
      database.write(call, (tx) => writes.delete(tx, { tenant: call.tenant, name: index }, ids)),
    query: ({ index: name, ...search }, { tenant }) =>
      database.read(async (sql) => {
        const index = await searchIndex(sql, { tenant, name });
        if (!index) throw noIndex(name);
        if (index.documents === 0) return [];
        const byWords = search.query.any.length === 0 ? [] : await findWords(sql, index, search);
        if (byWords.length === search.k) return byWords;
        const known = new Set(byWords.map(({ id }) => id));
        const byPart = await findPart(sql, index, search);
        return [...byWords, ...byPart.filter(({ id }) => !known.has(id))].slice(0, search.k);
      }),
    health: () => database.health(),
  };
}

const [K1, B] = [1.2, 0.75];
/** A word in most documents still has a small weight, as in FTS5. */
const IDF_MIN = 1e-6;

async function weights(sql: Sql, index: SearchIndex, { any }: ParsedQuery): Promise<number[]> {
  const queries = any.map((term) => termQuery(index, term));
  const rows = await sql<{ many: number }[]>`
    select (select count(*) from search_documents where idx = ${index.id} and lexemes @@ query::tsquery) as many
    from unnest(${queries}::text[]) with ordinality as asked (query, position) order by position
  `;
  return rows.map(({ many }) => Math.max(IDF_MIN, Math.log((index.documents - many + 0.5) / (many + 0.5))));
}

/** The count of a word, from `ts_rank` = 6/pi^2 * sum(1/j^2), whose rest is about 1/(n + 1/2). Phrases count once. */
const timesOf = (query: string, isOneWord: boolean): string =>
  isOneWord
    ? `round(1 / (1.6449340668 * (1 - ts_rank('{1,1,1,1}', lexemes, ${query})))::numeric - 0.5)::float8`
    : `(lexemes @@ ${query})::integer::float8`;

async function findWords(sql: Sql, index: SearchIndex, search: Search): Promise<SearchHit[]> {
  const { query, k, filter } = search;
  const text = new QueryText(POSTGRES);
  const bind = (value: string | number, type: string): string => `${text.bind(String(value))}::text::${type}`;
  const average = index.words / index.documents;
  const idfs = await weights(sql, index, query);
  const parts = query.any.map((term, position) => {
    const times = timesOf(`(select ${bind(termQuery(index, term), 'tsquery')})`, isWord(term));
    const idf = bind(idfs[position]!, 'float8');
    return `(select ${idf} * times * ${K1 + 1} / (times + ${K1} * (${1 - B} + ${B} * words / ${bind(average, 'float8')}))
      from (select ${times} as times) as counted)`;
  });
  const any = query.any.map((term) => termQuery(index, term)).join(' | ');
  const none = query.none.map((term) => ` & !(${termQuery(index, term)})`).join('');
  const where = `idx = ${bind(index.id, 'bigint')} and lexemes @@ ${bind(`(${any})${none}`, 'tsquery')}`;
  const found = `select id, doc, ${parts.join(' + ')} as score from search_documents where ${where} and ${text.condition(filter)}`;
  const rows = await runText<{ id: string; doc: string; score: number }>(sql, {
    text: firstOf(found, 'score desc, id', bind(k, 'bigint')),
    params: text.params,
  });
  return rows.map(({ id, doc, score }) => ({ id, score, fields: documentOf(doc) }));
}

/** Converts only the returned documents to text. */
const firstOf = (found: string, order: string, limit: string): string => `
  select *, doc::text as doc from (select * from (${found}) as found order by ${order} limit ${limit}) as first
  order by ${order}
`;

async function findPart(sql: Sql, index: SearchIndex, search: Search): Promise<SearchHit[]> {
  const { query, k, filter } = search;
  const text = new QueryText(POSTGRES);
  const bind = (value: string | number, type: string): string => `${text.bind(String(value))}::text::${type}`;
  const grams = fewGramsOf(query.literal).flatMap((gram) => [...gramHashes(index, gram)]);
  const where = [
    `idx = ${bind(index.id, 'bigint')}`,
    ...(grams.length === 0 ? [] : [`grams @> ${bind(`{${grams.join(',')}}`, 'integer[]')}`]),
    `strpos(folded, ${bind(query.literal, 'text')}) > 0`,
    text.condition(filter),
  ].join(' and ');
  const rows = await runText<{ id: string; doc: string; length: number }>(sql, {
    text: firstOf(
      `select id, doc, length(folded) as length from search_documents where ${where}`,
      'length, id',
      bind(k, 'bigint'),
    ),
    params: text.params,
  });
  const partLength = query.literal.length;
  return rows.map(({ id, doc, length }) => ({
    id,
    score: partScore(partLength, length),
    fields: documentOf(doc),
  }));
}
