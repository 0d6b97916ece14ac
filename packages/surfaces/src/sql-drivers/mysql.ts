/** MySQL and MariaDB as a data source. Statements are prepared by the server: one at a time, with separate values. */
import { OpenwopError } from '@gantry/protocol';
import type { SqlBackend, SqlStatement } from '../ports/sql.ts';
import { explain, NAME } from './mysql-errors.ts';
import { MysqlSession } from './mysql-session.ts';
import { connectionOf } from './mysql-settings.ts';
import { serverBackend } from './server.ts';
import type { ServerOptions } from './sessions.ts';

/** User names in `user_privileges` are quoted. */
const RIGHTS = `
  select concat('has the privilege ', privilege_type) as what from information_schema.user_privileges
  where privilege_type in ('FILE', 'SUPER') and replace(grantee, '''', '') = current_user()`;

/** Throws if the URL is not a MySQL address. */
export function mysqlBackend(options: ServerOptions): SqlBackend {
  connectionOf(options.url);
  const backend = serverBackend({
    dialect: 'mysql',
    name: NAME,
    limits: options.limits,
    rights: RIGHTS,
    explain,
    definitions: 'committing',
    open: (access) => new MysqlSession(options, access),
  });
  return {
    ...backend,
    async execute(statements, call) {
      checkDefinitions(statements);
      return backend.execute(statements, call);
    },
  };
}

/** They would commit the statements before them. */
function checkDefinitions(statements: readonly SqlStatement[]): void {
  if (statements.length < 2 || statements.every(({ kind }) => kind === 'rows')) return;
  throw new OpenwopError('validation_error', {
    message: 'MySQL cannot undo CREATE, ALTER, DROP and TRUNCATE; send them alone with ctx.db.sql.execute.',
  });
}
