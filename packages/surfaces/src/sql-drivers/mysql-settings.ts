/** The address of MySQL or MariaDB, and the settings of a new session. */
import { isIP } from 'node:net';
import type { SqlLimits } from '../ports/sql.ts';
import type { Access } from './sessions.ts';

const PORT = 3_306;
interface Tls {
  readonly rejectUnauthorized: boolean;
  readonly verifyIdentity: boolean;
}
const TLS_MODES: Readonly<Record<string, Tls | undefined>> = {
  disabled: undefined,
  required: { rejectUnauthorized: false, verifyIdentity: false },
  // On its own, `rejectUnauthorized` accepts a certificate for any name
  verify_identity: { rejectUnauthorized: true, verifyIdentity: true },
};

/** `mysql://user:password@host:port/database?ssl-mode=verify_identity`. No other settings are supported. */
export function connectionOf(url: string) {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const ssl = TLS_MODES[sslModeOf(searchParams)];
  const host = hostname.replace(/^\[|\]$/g, '');
  // The driver would check the certificate for `localhost`
  if (ssl?.verifyIdentity && isIP(host) !== 0) throw new Error(BY_NAME);
  return {
    host,
    port: Number(port || PORT),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ...(ssl && { ssl }),
  };
}

const BY_NAME =
  'With "ssl-mode=verify_identity" a MySQL address has the name of the server as its certificate has it, not an IP ' +
  'address; "ssl-mode=required" encrypts without looking at the certificate.';

function sslModeOf(settings: URLSearchParams): string {
  for (const name of settings.keys())
    if (name !== 'ssl-mode')
      throw new Error(`A MySQL address has no setting "${name}"; there is "ssl-mode".`);
  const mode = settings.get('ssl-mode')?.toLowerCase() ?? 'disabled';
  if (!Object.hasOwn(TLS_MODES, mode))
    throw new Error(`"ssl-mode" of a MySQL address is one of ${Object.keys(TLS_MODES).join(', ')}.`);
  return mode;
}

/** The same quoting and strictness as the other databases; times in UTC. */
const SQL_MODE = [
  'ANSI_QUOTES',
  'NO_BACKSLASH_ESCAPES',
  'PIPES_AS_CONCAT',
  'STRICT_ALL_TABLES',
  'NO_ENGINE_SUBSTITUTION',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ZERO_DATE',
  'NO_ZERO_IN_DATE',
  'ONLY_FULL_GROUP_BY',
].join(',');

/** Ends the session of a dead host, which releases its locks. A live host ends idle sessions earlier. */
const GONE_S = 120;

/**
 * `isNeeded`: each server supports one of the timeouts.
 * The session is read-only too, as definitions end a transaction.
 */
export const settingsOf = (
  { timeoutMs }: SqlLimits,
  access: Access,
): readonly { readonly sql: string; readonly isNeeded: boolean }[] => [
  { sql: 'set names utf8mb4', isNeeded: true },
  { sql: `set session transaction ${access}`, isNeeded: true },
  {
    sql:
      `set session sql_mode = '${SQL_MODE}', time_zone = '+00:00', ` +
      `innodb_lock_wait_timeout = ${Math.max(1, Math.ceil(timeoutMs / 1_000))}, wait_timeout = ${GONE_S}`,
    isNeeded: true,
  },
  { sql: `set session max_statement_time = ${timeoutMs / 1_000}`, isNeeded: false },
  { sql: `set session max_execution_time = ${timeoutMs}`, isNeeded: false },
];
