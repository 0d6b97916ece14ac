export { openPostgres, type Sql, type Statement, type Tx } from './open-postgres.ts';
