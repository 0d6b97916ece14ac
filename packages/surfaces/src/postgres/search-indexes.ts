import type { Term } from '../search/parse-query.ts';
import type { Sql, Tx } from './connection.ts';

export interface SearchIndex {
  readonly id: number;
  readonly documents: number;
  /** Of all documents together. */
  readonly words: number;
}

export interface Place {
  readonly tenant: string;
  readonly name: string;
}

export async function findSearchIndex(sql: Sql, { tenant, name }: Place): Promise<SearchIndex | null> {
  const [row] = await sql<SearchIndex[]>`
    select id, documents, words from search_indexes where tenant = ${tenant} and name = ${name}
  `;
  return row ?? null;
}

/** Other writers of the index wait. */
export async function holdSearchIndex(tx: Tx, { tenant, name }: Place): Promise<SearchIndex | null> {
  const [row] = await tx<SearchIndex[]>`
    select id, documents, words from search_indexes where tenant = ${tenant} and name = ${name} for update
  `;
  return row ?? null;
}

type Id = Pick<SearchIndex, 'id'>;

/** Words hold letters and digits only, so nothing in them ends the quotes. */
const lexeme = ({ id }: Id, word: string): string => `'${id}/${word}'`;

export const isWord = ({ words, isPrefix }: Term): boolean => words.length === 1 && !isPrefix;

/** Text of a tsquery. */
export const termQuery = (index: Id, { words, isPrefix }: Term): string =>
  `(${words.map((word) => lexeme(index, word)).join(' <-> ')}${isPrefix ? ':*' : ''})`;

/** PostgreSQL keeps no more places of a word, and none beyond. */
const PLACES_MAX = 256;

/** Text of a tsvector. */
export function lexemesOf(index: Id, words: readonly string[]): string {
  const places = Map.groupBy(words.entries(), ([, word]) => word);
  return [...places]
    .map(([word, at]) => {
      const numbers = at.slice(0, PLACES_MAX).map(([place]) => place + 1);
      return `${lexeme(index, word)}:${numbers.join(',')}`;
    })
    .join(' ');
}

const [FNV_OFFSET, FNV_PRIME] = [0x811c9dc5, 0x01000193];

/** Numbers take a third of the room; two grams with one number only mean one more document to look through. */
export const gramHashes = ({ id }: Id, grams: readonly string[]): number[] => [
  ...new Set(
    grams.map((gram) => {
      let hash = FNV_OFFSET;
      for (const byte of Buffer.from(`${id}/${gram}`)) hash = Math.imul(hash ^ byte, FNV_PRIME);
      return hash | 0;
    }),
  ),
];
