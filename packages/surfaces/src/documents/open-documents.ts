import type { EmbeddedDatabase } from '../embedded/database.ts';
import { embeddedDocuments } from '../embedded/documents.ts';
import { type OpenedPort, openPort, SETTINGS } from '../open-port.ts';
import type { DocumentLimits, DocumentsPort } from '../ports/documents.ts';
import { postgresBackends } from '../postgres/backends.ts';
import type { PostgresPool } from '../postgres/connection.ts';
import { postgresDocuments } from '../postgres/documents.ts';

export interface OpenDocumentsDeps {
  readonly embedded: EmbeddedDatabase;
  readonly pool: PostgresPool;
  /** `TABLE_LIMITS` or `NOSQL_LIMITS`: tables and collections are two ports over one place. */
  readonly limits: DocumentLimits;
}

export const openDocuments = (
  setting: string | undefined,
  { embedded, pool, limits }: OpenDocumentsDeps,
): Promise<OpenedPort<DocumentsPort>> =>
  openPort({
    name: SETTINGS.documents,
    value: setting,
    embedded: embeddedDocuments(embedded, limits),
    backends: postgresBackends(pool, (database) => postgresDocuments(database, limits)),
  });
