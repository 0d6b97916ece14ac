import type { DatabaseSync } from 'node:sqlite';
import type { Columns } from '../capabilities/documents/columns.ts';
import type { Scope } from '../capabilities/documents/query-sql.ts';
import type { CollectionFacts, CollectionName } from '../ports/documents.ts';

/** A collection of a tenant. */
export interface Place extends CollectionName {
  readonly tenant: string;
}

export interface Collection extends Scope, CollectionFacts {
  /** Fields that will be among the indexes once all their cells are there. */
  readonly filling: readonly string[];
}

const FIND_COLLECTION = `
  select id, columns, indexes, filling, documents from collections where tenant = ? and space = ? and name = ?
`;

export function findingCollection(database: DatabaseSync): (place: Place) => Collection | null {
  const find = database.prepare(FIND_COLLECTION);
  return ({ tenant, space, collection }) => {
    const row = find.get(tenant, space, collection);
    if (!row) return null;
    const columns: Columns | null = row.columns === null ? null : JSON.parse(String(row.columns));
    const filling: string[] = JSON.parse(String(row.filling));
    const listed: string[] = JSON.parse(String(row.indexes));
    const indexes = listed.filter((field) => !filling.includes(field));
    return { collection: Number(row.id), columns, indexes, filling, documents: Number(row.documents) };
  };
}
