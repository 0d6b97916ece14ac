/** How a session with MySQL or MariaDB begins. */
import type { SqlLimits } from '../ports/sql.ts';

const PORT = 3_306;
const TLS_MODES: Readonly<Record<string, { rejectUnauthorized: boolean } | undefined>> = {
  disabled: undefined,
  required: { rejectUnauthorized: false },
  verify_identity: { rejectUnauthorized: true },
};

/** `mysql://user:password@host:port/database?ssl-mode=verify_identity`. Nothing else in it is a setting. */
export function connectionOf(url: string) {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const ssl = TLS_MODES[sslModeOf(searchParams)];
  return {
    ...{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || PORT) },
    ...{ user: decodeURIComponent(username), password: decodeURIComponent(password) },
    database: decodeURIComponent(pathname.slice(1)),
    ...(ssl && { ssl }),
  };
}

function sslModeOf(settings: URLSearchParams): string {
  for (const name of settings.keys())
    if (name !== 'ssl-mode')
      throw new Error(`A MySQL address has no setting "${name}"; there is "ssl-mode".`);
  const mode = settings.get('ssl-mode')?.toLowerCase() ?? 'disabled';
  if (!(mode in TLS_MODES))
    throw new Error(`"ssl-mode" of a MySQL address is one of ${Object.keys(TLS_MODES).join(', ')}.`);
  return mode;
}

/** The same meaning of quotes and the same strictness as the other databases; times in UTC. */
const SQL_MODE = [
  ...[
    'ANSI_QUOTES',
    'NO_BACKSLASH_ESCAPES',
    'PIPES_AS_CONCAT',
    'STRICT_ALL_TABLES',
    'NO_ENGINE_SUBSTITUTION',
  ],
  ...['ERROR_FOR_DIVISION_BY_ZERO', 'NO_ZERO_DATE', 'NO_ZERO_IN_DATE', 'ONLY_FULL_GROUP_BY'],
].join(',');

export function sessionOf(
  { timeoutMs }: SqlLimits,
  { isReadOnly }: { readonly isReadOnly: boolean },
): { readonly sql: string; readonly isNeeded: boolean }[] {
  const needed = [
    `set session sql_mode = '${SQL_MODE}', time_zone = '+00:00'`,
    `set session transaction ${isReadOnly ? 'read only' : 'read write'}`,
    `set session innodb_lock_wait_timeout = ${Math.max(1, Math.ceil(timeoutMs / 1_000))}`,
  ];
  // Each of the two servers knows one of these
  const either = [
    `set session max_statement_time = ${timeoutMs / 1_000}`,
    `set session max_execution_time = ${timeoutMs}`,
  ];
  return [
    ...needed.map((sql) => ({ sql, isNeeded: true })),
    ...either.map((sql) => ({ sql, isNeeded: false })),
  ];
}
