import type { PostgresDatabase } from './postgres/connection.ts';

export interface PostgresPool {
  /** Ports with the same address share one database. */
  open(url: string): Promise<PostgresDatabase>;
  /** All databases that were opened. */
  databases(): readonly PostgresDatabase[];
  close(): Promise<void>;
}

/** Loads the driver with the first database. */
export function createPostgresPool(): PostgresPool {
  const databases = new Map<string, PostgresDatabase>();
  return {
    async open(url) {
      const { openPostgresDatabase } = await import('./postgres/connection.ts');
      const known = databases.get(url) ?? openPostgresDatabase({ url });
      databases.set(url, known);
      return known;
    },
    databases: () => [...databases.values()],
    async close() {
      await Promise.all([...databases.values()].map((each) => each.close()));
    },
  };
}
