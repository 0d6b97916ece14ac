export { openPostgres, type PostgresSettings, type Sql, type Tx } from './open-postgres.ts';
