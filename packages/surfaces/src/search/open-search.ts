import type { RetrievalDatabase } from '../embedded/database.ts';
import { embeddedSearch } from '../embedded/search.ts';
import { type OpenedPort, openPort, SETTINGS } from '../open-port.ts';
import type { SearchLimits, SearchPort } from '../ports/search.ts';
import { postgresBackends } from '../postgres/backends.ts';
import type { PostgresPool } from '../postgres/connection.ts';
import { postgresSearch } from '../postgres/search.ts';

export interface OpenSearchDeps {
  readonly embedded: RetrievalDatabase;
  readonly pool: PostgresPool;
  readonly limits: SearchLimits;
}

/** `postgres://`, or nothing for the data folder. */
export function openSearch(
  setting: string | undefined,
  { embedded, pool, limits }: OpenSearchDeps,
): Promise<OpenedPort<SearchPort>> {
  return openPort({
    name: SETTINGS.search,
    value: setting,
    embedded: embeddedSearch(embedded, limits),
    backends: postgresBackends(pool, (database) => postgresSearch(database, limits)),
  });
}
