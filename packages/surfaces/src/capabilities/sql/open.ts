/** The SQL surface with everything behind it. */

import type { ImplementedSurface } from '../../calls/define-surface.ts';
import { SQL_LIMITS } from '../../ports/sql.ts';
import { memoryTables, SqlitePool } from '../../sql-drivers/sqlite.ts';
import { type DatasourceBackend, type DatasourcesDeps, openDatasources } from './datasources.ts';
import { implementSql } from './surface.ts';

export interface OpenedSql {
  readonly surface: ImplementedSurface;
  readonly backends: readonly DatasourceBackend[];
  /** Lets statements under way end. */
  close(): Promise<void>;
}

/** `file` lists data sources; without one there is `primary` alone. Rejects when the file is not valid. */
export async function openSql(
  file: string | undefined,
  deps: Omit<DatasourcesDeps, 'pool'>,
): Promise<OpenedSql> {
  const pool = new SqlitePool();
  const datasources = await openDatasources(file, { ...deps, pool });
  return {
    surface: implementSql({ datasources, tables: memoryTables(pool, SQL_LIMITS) }),
    backends: datasources.backends,
    async close() {
      await datasources.close();
      await pool.close();
    },
  };
}
