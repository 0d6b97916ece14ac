import type { RetrievalDatabase } from '../embedded/database.ts';
import { embeddedSearch } from '../embedded/search.ts';
import { type OpenedPort, openPort } from '../open-port.ts';
import type { SearchLimits, SearchPort } from '../ports/search.ts';
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
  const postgres = async (url: string): Promise<OpenedPort<SearchPort>> => {
    const port = postgresSearch(await pool.open(url), limits);
    return { kind: 'postgres', port, health: () => port.health() };
  };
  return openPort({
    ...{ name: 'GANTRY_SEARCH', value: setting, embedded: embeddedSearch(embedded, limits) },
    backends: { postgres, postgresql: postgres },
  });
}
