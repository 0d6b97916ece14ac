export { openPostgres, type PostgresSettings, type Sql, type Statement, type Tx } from './open-postgres.ts';
