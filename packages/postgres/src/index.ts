export { type Driver, openPostgres, type Sql, type Statement, type Tx } from './open-postgres.ts';
export {
  codeOf,
  isLostConnection,
  isOfServer,
  mayHaveArrived,
  postgresReason,
  refusalOf,
  UnknownOutcomeError,
} from './reasons.ts';
export type { Standing } from './standing.ts';
export { addressOf, loginOptions, type PostgresServer, readServer } from './url.ts';
export { Wire } from './wire.ts';
