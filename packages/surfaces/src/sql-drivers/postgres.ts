/** PostgreSQL as a data source, by the extended protocol: one statement at a time, with separate values. */
import { readServer } from '@gantry/postgres';
import type { SqlBackend } from '../ports/sql.ts';
import { explain, NAME } from './postgres-errors.ts';
import { PostgresSession } from './postgres-session.ts';
import { serverBackend } from './server.ts';
import type { ServerOptions } from './sessions.ts';

/** A superuser is a member of every role. */
const RIGHTS = `
  with me as (select rolsuper from pg_roles where rolname = current_user)
  select 'is a superuser' as what from me where rolsuper
  union all
  select 'is a member of ' || rolname from pg_roles
  where rolname in ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
    and pg_has_role(oid, 'member') and not (select rolsuper from me)`;

/** Throws for an invalid URL (`readServer`). */
export function postgresBackend({ url, limits }: ServerOptions): SqlBackend {
  const server = readServer(url);
  return serverBackend({
    dialect: 'postgres',
    name: NAME,
    limits,
    rights: RIGHTS,
    explain,
    definitions: 'transactional',
    open: (access) => new PostgresSession({ server, limits }, access),
  });
}
