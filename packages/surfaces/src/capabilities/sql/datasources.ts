/**
 * The SQL databases that nodes of a tenant may use. The operator lists them in a file. `primary` is a database of
 * the host for each tenant, unless the file defines another.
 *
 * @example
 * const datasources = await openDatasources('/etc/gantry/datasources.json', { pool, dataDir, invocationRetentionMs });
 * const { backend } = datasources.find('crm', 'acme');
 */
import { didYouMean, given, OpenwopError } from '@gantry/protocol';
import { isUnavailable, ServerError } from '../../backend-errors.ts';
import { named as inSetting } from '../../open-port.ts';
import { SQL_LIMITS, type SqlBackend, type SqlDialect, type SqlLimits } from '../../ports/sql.ts';
import { operatorFile, type SqlitePool, tenantFiles } from '../../sql-drivers/sqlite.ts';
import { type DatasourceConfig, readDatasources } from './datasources-file.ts';

const PRIMARY = 'primary';
/** Per tenant. */
const PRIMARY_BYTES_MAX = 268_435_456;

interface Datasource {
  readonly backend: SqlBackend;
  readonly isReadOnly: boolean;
}

export interface Datasources {
  /** Throws `datasource_not_found`, or `datasource_access_denied` for one of another tenant. */
  find(id: string, tenant: string): Datasource;
  /** Only those that every tenant may use. */
  readonly advertised: { readonly id: string; readonly driver: SqlDialect }[];
  readonly drivers: SqlDialect[];
  /** Those of all tenants, for the operator. */
  readonly backends: readonly DatasourceBackend[];
  close(): Promise<void>;
}

export interface DatasourceBackend {
  readonly id: string;
  /** `embedded` for those in the data folder, else the driver. */
  readonly kind: string;
  /** Rejects with `storage_unavailable`. */
  health(): Promise<void>;
  /** A problem that the operator should fix, although the data source can be used. */
  warning(): Promise<string | null>;
}

interface DatasourcesDeps {
  readonly pool: SqlitePool;
  readonly dataDir: string;
  readonly invocationRetentionMs: number;
}

interface Entry extends Datasource {
  readonly id: string;
  readonly kind: string;
  readonly tenants: '*' | ReadonlySet<string>;
}

/** Opens no connection: the host starts although a server is down. Rejects when the file is not valid. */
export async function openDatasources(file: string | undefined, deps: DatasourcesDeps): Promise<Datasources> {
  const listed = file === undefined ? [] : readDatasources(file);
  const configured = await Promise.all(listed.map((each) => entryOf(each, deps)));
  const isReplaced = configured.some(({ id, tenants }) => id === PRIMARY && tenants === '*');
  const entries = isReplaced ? configured : [primaryOf(deps), ...configured];
  return {
    find: (id, tenant) => find(entries, id, tenant),
    advertised: entries
      .filter(({ tenants }) => tenants === '*')
      .map(({ id, backend }) => ({ id, driver: backend.dialect })),
    drivers: ['sqlite', 'postgres', 'mysql'],
    backends: entries.map(backendOf),
    close: async () => void (await Promise.all(entries.map(({ backend }) => backend.close()))),
  };
}

function primaryOf({ pool, dataDir, invocationRetentionMs }: DatasourcesDeps): Entry {
  const limits = SQL_LIMITS;
  const backend = tenantFiles(pool, { dataDir, limits, bytesMax: PRIMARY_BYTES_MAX, invocationRetentionMs });
  return { id: PRIMARY, kind: 'embedded', tenants: '*', backend, isReadOnly: false };
}

async function entryOf(
  { id, tenants, readOnly, location, ...limits }: DatasourceConfig,
  { pool }: DatasourcesDeps,
): Promise<Entry> {
  const bounds = { ...SQL_LIMITS, ...given({ rowsMax: limits.maxRows, timeoutMs: limits.timeoutMs }) };
  return {
    id,
    tenants: tenants === '*' ? tenants : new Set(tenants),
    isReadOnly: readOnly,
    kind: location.driver,
    // An address may have settings that can never work: the message names the data source
    backend: named(await inSetting(`Data source "${id}"`, openBackend(location, bounds, pool)), id, location),
  };
}

/** Drivers are loaded only if configured: each adds some 50 ms to the start. */
async function openBackend(
  location: DatasourceConfig['location'],
  limits: SqlLimits,
  pool: SqlitePool,
): Promise<SqlBackend> {
  switch (location.driver) {
    case 'sqlite':
      return operatorFile(pool, { file: location.file, limits });
    case 'postgres':
      return (await import('../../sql-drivers/postgres.ts')).postgresBackend({ url: location.url, limits });
    case 'mysql':
      return (await import('../../sql-drivers/mysql.ts')).mysqlBackend({ url: location.url, limits });
  }
}

/** Adds the data source and the path of its file, relative to the list, to errors for the operator. */
function named(backend: SqlBackend, id: string, location: DatasourceConfig['location']): SqlBackend {
  const at =
    (where: string) =>
    (error: unknown): never => {
      throw error instanceof ServerError ? error.at(where) : error;
    };
  const file = location.driver === 'sqlite' ? location.file : null;
  const tell = at(file === null ? `data source "${id}"` : `data source "${id}" (${file})`);
  return {
    ...backend,
    query: (...asked) => backend.query(...asked).catch(tell),
    execute: (...asked) => backend.execute(...asked).catch(tell),
    ...(file !== null && { health: () => backend.health().catch(at(file)) }),
  };
}

function find(entries: readonly Entry[], id: string, tenant: string): Datasource {
  const named = entries.filter((entry) => entry.id === id);
  // A data source for this tenant takes precedence over one for all
  const found =
    named.find(({ tenants }) => tenants !== '*' && tenants.has(tenant)) ??
    named.find(({ tenants }) => tenants === '*');
  if (found) return found;
  throw named.length > 0
    ? new OpenwopError('datasource_access_denied', {
        message: `The data source "${id}" is not for this tenant.`,
      })
    : noDatasource(
        id,
        entries.filter(({ tenants }) => tenants === '*' || tenants.has(tenant)).map((entry) => entry.id),
      );
}

const backendOf = ({ id, kind, backend }: Entry): DatasourceBackend => ({
  id,
  kind,
  health: () => backend.health().catch((error: unknown) => Promise.reject(stopsNothing(error, kind))),
  async warning() {
    const rights = await backend.dangerousRights();
    if (rights.length === 0) return null;
    return (
      `its user ${rights.join(', ')}, so that a node could reach beyond the database. Give it ` +
      'a user that may do what nodes should and nothing else.'
    );
  },
});

/** It may belong to one tenant only, so the host starts and serves the others whatever its fault is. */
function stopsNothing(error: unknown, kind: string): unknown {
  if (error instanceof ServerError) return error.stoppingNothing();
  if (isUnavailable(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ServerError('storage_unavailable', `The database (${kind})`, `cannot be used: ${reason}`, {
    trouble: 'rejected',
    cause: error,
  });
}

const ID_READ_MAX = 64;
const IDS_SHOWN_MAX = 20;

/** `known`: only those that the tenant may use. The requested id may be an address, so the message omits it. */
export function noDatasource(id: string, known: readonly string[]): OpenwopError {
  const ids = [...new Set(known)];
  const listed = [...ids.slice(0, IDS_SHOWN_MAX), ...(ids.length > IDS_SHOWN_MAX ? ['…'] : [])].join(', ');
  const meant = didYouMean(id.slice(0, ID_READ_MAX), ids);
  return new OpenwopError('datasource_not_found', {
    message: `There is no data source of this name.${meant} This tenant has ${listed || 'none'}; only the operator can add one.`,
  });
}
