import type { Backends } from '../open-port.ts';
import type { PostgresDatabase, PostgresPool } from './connection.ts';

/** Both schemes that PostgreSQL's own tools take. */
export function postgresBackends<Port>(
  pool: PostgresPool,
  portOver: (database: PostgresDatabase) => Port,
): Backends<Port> {
  const open = async (url: string) => {
    const database = pool.open(url);
    return { kind: 'postgres', port: portOver(database), health: () => database.health() };
  };
  return { postgres: open, postgresql: open };
}
