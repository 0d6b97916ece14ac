import type { DatabaseSync } from 'node:sqlite';

export interface SearchIndex {
  readonly id: number;
  readonly documents: number;
  /** Number of the next row. */
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
