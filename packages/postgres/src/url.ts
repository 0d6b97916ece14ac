/**
 * The address and login of a PostgreSQL server. Only this module parses its URL.
 *
 *     postgres://user:password@host:5432/database?sslmode=verify-full
 *
 * `sslmode` is `disable` (the default), `require` (encrypts, without checks of the server), `verify-ca` (the
 * certificate is signed by an authority that Node trusts) or `verify-full` (and is valid for this host).
 * `host=/var/run/postgresql` names the folder of a socket, which has no TLS. All other parameters are sent to the
 * server.
 *
 * I1  Errors repeat nothing of the URL: any part of it may belong to a password that was not encoded.
 */

const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

export interface PostgresServer {
  readonly place: Place;
  readonly login: Login;
  /** Parameters of every session: `statement_timeout`, ... */
  readonly parameters: Readonly<Record<string, string>>;
}

export type Place =
  | { readonly kind: 'host'; readonly host: string; readonly port: number; readonly tls: TlsMode }
  | { readonly kind: 'socket'; readonly path: string };

/** Missing values come from `PGUSER`, `PGPASSWORD` and `PGDATABASE`. */
export interface Login {
  readonly user?: string;
  readonly pass?: string;
  readonly database?: string;
}

const PORT = 5_432;
const NO_URL =
  'This is no URL of PostgreSQL, such as postgres://user:password@host:5432/database. Characters such as # ? / @ % ' +
  'in a user or a password must be percent-encoded, as %23 for #.';
const MANY_HOSTS =
  'The URL names several hosts. Name one: the primary server, or an address that always leads to it.';
const TLS_MODE =
  '"sslmode" of the URL is disable, require, verify-ca or verify-full: what may go unencrypted by itself is not ' +
  'served. Say verify-full, or require to encrypt without a look at the certificate.';
const AUTHORITIES =
  'Authorities are not named in the URL. Leave "sslrootcert" out, name the file of your own authority in the ' +
  'environment as NODE_EXTRA_CA_CERTS, and say sslmode=verify-full.';
const CLIENT_CERTIFICATE =
  'Certificates of clients are not served. Let the user log in with a password (scram-sha-256 in pg_hba.conf).';
const BEFORE_PARAMETERS =
  'User, password, port and database stand before the "?" of the URL: postgres://user:password@host:5432/database.';
const SOCKET_FOLDER =
  'The parameter "host" of the URL is the folder of a socket, such as /var/run/postgresql. Other hosts stand ' +
  'before the database: postgres://user:password@host:5432/database.';

/** Parameters that PostgreSQL's own tools accept, and what to use instead. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  ssl: TLS_MODE,
  sslrootcert: AUTHORITIES,
  sslcert: CLIENT_CERTIFICATE,
  sslkey: CLIENT_CERTIFICATE,
  hostaddr: BEFORE_PARAMETERS,
  port: BEFORE_PARAMETERS,
  user: BEFORE_PARAMETERS,
  password: BEFORE_PARAMETERS,
  dbname: BEFORE_PARAMETERS,
  database: BEFORE_PARAMETERS,
};

/** Throws an `Error` that says what is wrong with the URL (I1). */
export function readServer(text: string): PostgresServer {
  const url = parsed(text);
  const { sslmode = 'disable', host: folder, ...parameters } = Object.fromEntries(url.searchParams);
  for (const name of Object.keys(parameters))
    if (Object.hasOwn(NOT_SERVED, name)) throw new Error(NOT_SERVED[name]);
  if (!isTlsMode(sslmode)) throw new Error(TLS_MODE);
  if (folder !== undefined && !folder.startsWith('/')) throw new Error(SOCKET_FOLDER);
  const [user, pass] = [decoded(url.username), decoded(url.password)];
  const database = decoded(url.pathname.slice(1));
  return {
    place: placeOf(folder ?? hostOf(url), Number(url.port || process.env.PGPORT || PORT), sslmode),
    login: { ...(user && { user }), ...(pass && { pass }), ...(database && { database }) },
    parameters,
  };
}

/** For messages: `db:5432`, `[::1]:5432`, or the path of a socket. */
export function addressOf({ place }: PostgresServer): string {
  if (place.kind === 'socket') return place.path;
  return `${place.host.includes(':') ? `[${place.host}]` : place.host}:${place.port}`;
}

/**
 * Options with which the driver logs in. It gets its sockets from a `Wire`, which does TLS; host and path are only
 * for its messages.
 */
export const loginOptions = (server: PostgresServer) => ({
  ...server.login,
  host: 'host' in server.place ? server.place.host : server.place.path,
  path: addressOf(server),
  ssl: false,
});

/** A second `@` after the first `/ ? #` belongs to a password whose characters ended the host too early. */
function parsed(text: string): URL {
  const [, hosts = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (rest.includes('@') || rest.includes('#')) throw new Error(NO_URL);
  if (hosts.slice(hosts.lastIndexOf('@') + 1).includes(',')) throw new Error(MANY_HOSTS);
  if (!/^postgres(?:ql)?:$/.test(URL.parse(text)?.protocol ?? '')) throw new Error(NO_URL);
  return new URL(text);
}

function decoded(part: string): string {
  let text: string;
  try {
    text = decodeURIComponent(part);
  } catch {
    throw new Error(NO_URL);
  }
  // Texts are NUL-terminated on the wire
  if (text.includes('\0')) throw new Error(NO_URL);
  return text;
}

function hostOf({ hostname }: URL): string {
  const host = decoded(hostname).replace(/^\[(.*)\]$/, '$1') || process.env.PGHOST || 'localhost';
  if (host.includes(',')) throw new Error(MANY_HOSTS);
  return host;
}

const placeOf = (host: string, port: number, tls: TlsMode): Place =>
  host.startsWith('/')
    ? { kind: 'socket', path: `${host.replace(/\/+$/, '')}/.s.PGSQL.${port}` }
    : { kind: 'host', host, port, tls };

const isTlsMode = (text: string): text is TlsMode => (TLS_MODES as readonly string[]).includes(text);
