import { ARRAY_TYPES } from './array-types.ts';
import { loginOptions, type PostgresServer } from './url.ts';
import { Wire } from './wire.ts';

const INT8 = 20;

export interface SessionSettings {
  readonly server: PostgresServer;
  readonly connectTimeoutS: number;
  /** A statement without an answer for this long closes the connection. Without it there is no limit. */
  readonly statementTimeoutMs?: number;
  /** Parameters of every session: `application_name`, `search_path`, ... Those of the URL have precedence. */
  readonly connection: Readonly<Record<string, string | number>>;
}

export const wireOf = ({ server: { place }, connectTimeoutS }: SessionSettings): Wire =>
  new Wire({ place, timeoutMs: connectTimeoutS * 1_000 });

export const optionsOf = ({ server, connection, connectTimeoutS }: SessionSettings) => ({
  ...loginOptions(server),
  connect_timeout: connectTimeoutS,
  connection: { ...connection, ...server.parameters },
  onnotice: () => {},
  fetch_types: false,
  types: { bigint: { to: INT8, from: [INT8], parse: Number, serialize: String }, ...ARRAY_TYPES },
});
