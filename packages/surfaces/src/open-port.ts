/** Opens the port of a surface: in the data folder, or on the server that its setting names. */

import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, refused } from './backend-errors.ts';
import type { ServedBackend } from './backend-health.ts';
import type { Cursors } from './calls/cursor.ts';
import type { ImplementedSurface } from './calls/define-surface.ts';
import { leftBehind } from './left-behind.ts';
import type { OpenedSurfaces, SurfacesOptions } from './open-surfaces.ts';
import type { PostgresDatabase } from './postgres/connection.ts';
import type { PostgresPool } from './postgres-pool.ts';
import { perTenant, type QuotaName } from './quotas.ts';
import type { EmbeddedDatabase } from './sqlite/database.ts';
import type { AreaName } from './sqlite/database-files.ts';

/** By port: the setting that names its backend. */
export const SETTINGS = {
  kv: 'GANTRY_KV',
  cache: 'GANTRY_CACHE',
  documents: 'GANTRY_DOCUMENTS',
  vectors: 'GANTRY_VECTORS',
  search: 'GANTRY_SEARCH',
  queue: 'GANTRY_QUEUE',
  blobs: 'GANTRY_BLOBS',
  datasources: 'GANTRY_DATASOURCES',
} as const;

export const DATA_DIR = 'GANTRY_DATA_DIR';
export const DATABASE_URL = 'GANTRY_DATABASE_URL';
/** The value of a setting that keeps a port in the data folder although a shared database is configured. */
export const IN_DATA_FOLDER = 'data-folder';

/**
 * By port: a URL or `data-folder`; for `datasources` the path of a file. A port without an entry uses
 * `database`, which processes share, else the data folder.
 */
export type BackendSettings = { readonly [Port in keyof typeof SETTINGS | 'database']?: string | undefined };

/** The dependencies that surfaces are opened with. */
export interface OpenDeps extends SurfacesOptions {
  readonly embedded: EmbeddedDatabase;
  readonly pool: PostgresPool;
  readonly cursors: Cursors;
}

export interface OpenedSurface {
  /** Null where the platform does not support it. Call it after the servers were checked. */
  implement(): ImplementedSurface | null;
  readonly backends: readonly ServedBackend[];
  /** Parts of it that the host itself uses, apart from its methods. */
  readonly offers?: Partial<Pick<OpenedSurfaces, 'queue' | 'blobs' | 'servePresigned'>>;
  /** Deletes expired data; answers the number of deleted items. */
  sweep?(now: number): Promise<number>;
  close?(): Promise<void>;
}

export type OpenSurface = (deps: OpenDeps, capability: string) => Promise<OpenedSurface>;

export interface OpenedPort<Port> {
  readonly kind: string;
  readonly port: Port;
  /** Rejects when the backend is not available. */
  health(): Promise<void>;
  /** A problem that the operator should fix, although the backend can be used. */
  warning?(): Promise<string | null>;
}

export interface PortLiteral<Port> {
  readonly setting?: keyof typeof SETTINGS;
  embedded(deps: OpenDeps): Port | Promise<Port>;
  /** The area of the embedded database that holds it. Default: in `surfaces.db`. */
  readonly area?: AreaName;
  /** A folder in the data folder for its other data. */
  readonly folder?: string;
  /** Why this platform cannot keep it in the data folder; null where it can. */
  lacks?(deps: OpenDeps): string | null;
  /** By scheme, without the colon. Opening connects to nothing yet. */
  readonly servers?: Servers<Port>;
}

type Servers<Port> = Readonly<Record<string, (url: string, deps: OpenDeps) => Promise<OpenedPort<Port>>>>;

/**
 * For both URL schemes that PostgreSQL's own tools accept.
 * `portOf` loads the code of the port, only when it is used.
 */
export function onPostgres<Port>(
  portOf: (database: PostgresDatabase, deps: OpenDeps) => Promise<Port>,
): Servers<Port> {
  const open = async (url: string, deps: OpenDeps): Promise<OpenedPort<Port>> => {
    const database = await deps.pool.open(url);
    return { kind: 'postgres', port: await portOf(database, deps), health: () => database.health() };
  };
  return { postgres: open, postgresql: open };
}

interface Quota {
  readonly quotaBytes: number;
}

/** A port with a quota per tenant, in the data folder or on PostgreSQL. */
export function quotaPort<Port extends object, Limits extends Quota>(
  setting: QuotaName & keyof typeof SETTINGS,
  limits: Limits,
  {
    embedded,
    postgres,
    ...rest
  }: Pick<PortLiteral<Port>, 'area' | 'folder'> & {
    embedded(deps: OpenDeps, limits: Limits): Port;
    /** Loads the code of the port. */
    postgres(): Promise<(database: PostgresDatabase, limits: Limits) => Port>;
  },
): PortLiteral<Port> {
  const withQuotas = ({ quotas }: OpenDeps, open: (limits: Limits) => Port): Port =>
    perTenant(quotas, setting, limits.quotaBytes, (quotaBytes) => open({ ...limits, quotaBytes }));
  return {
    ...rest,
    setting,
    embedded: (deps) => withQuotas(deps, (own) => embedded(deps, own)),
    servers: onPostgres(async (database, deps) => {
      const open = await postgres();
      return withQuotas(deps, (own) => open(database, own));
    }),
  };
}

export const NO_URL =
  'is not a valid URL; characters such as # ? / @ % in a password must be percent-encoded, as %23 for #';

/** Whether every part can be parsed. A fragment, or an `@` after the host, means a password that is not encoded. */
export function isServerUrl(value: string): boolean {
  const [, rest = ''] = /^[^:]*:\/\/[^/?#]*(.*)$/s.exec(value) ?? [];
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, pathname } = new URL(value);
  // Has no password, and its own error messages are better
  if (protocol === 's3:') return true;
  if (/[#@]/.test(rest)) return false;
  return [username, password, pathname].every(isEncoded);
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The error for an unknown scheme. It repeats only the scheme of the setting: the rest may hold a password. */
export function notServed(name: string, value: string, schemes: readonly string[]): string {
  const served = schemes.map((each) => `${each}://`).join(' or ');
  const how = `${served}, or ${IN_DATA_FOLDER}. Left out, it follows ${DATABASE_URL}.`;
  return isServerUrl(value)
    ? `${name} asks for "${new URL(value).protocol}//", which is not served: use ${how}`
    : `${name} ${NO_URL}. Use ${how}`;
}

const MISSING = 'missing';

/** Connects to nothing. Errors never repeat the setting: it may hold a password. */
export async function openPort<Port>(literal: PortLiteral<Port>, deps: OpenDeps): Promise<OpenedPort<Port>> {
  const { setting, servers = {} } = literal;
  const { value, name } = placeOf(setting, deps);
  if (value === undefined) {
    const [port, lack] = [await literal.embedded(deps), literal.lacks?.(deps) ?? null];
    return lack === null
      ? { kind: 'embedded', port, health: folderHealth(literal, deps) }
      : { kind: MISSING, port, health: () => Promise.reject(new Error(lack)) };
  }
  const scheme = isServerUrl(value) ? new URL(value).protocol.slice(0, -1) : null;
  const open = scheme !== null && Object.hasOwn(servers, scheme) ? servers[scheme] : undefined;
  if (open && setting !== undefined && name === DATABASE_URL)
    return withLeftBehind(await named(name, open(value, deps)), setting, deps);
  if (open) return named(name, open(value, deps));
  throw new Error(notServed(name, value, Object.keys(servers)));
}

/** Changes the object in place: some backends change their kind when they are checked. */
function withLeftBehind<Port>(
  opened: OpenedPort<Port>,
  setting: keyof typeof SETTINGS,
  { dataDir }: OpenDeps,
): OpenedPort<Port> {
  const { warning } = opened;
  return Object.assign(opened, {
    async warning() {
      const found = [await warning?.call(opened), leftBehind(setting, SETTINGS[setting], dataDir)];
      return found.filter((each) => each).join(' Also, ') || null;
    },
  });
}

/** The backend of a port, and the setting that selects it. An undefined `value` means the data folder. */
function placeOf(
  port: keyof typeof SETTINGS | undefined,
  { backends }: Pick<OpenDeps, 'backends'>,
): { readonly value: string | undefined; readonly name: string } {
  const own = port && backends[port];
  if (port === undefined || own === IN_DATA_FOLDER) return { value: undefined, name: DATA_DIR };
  if (own !== undefined) return { value: own, name: SETTINGS[port] };
  const isShared = port !== 'datasources' && backends.database !== undefined;
  return isShared ? { value: backends.database, name: DATABASE_URL } : { value: undefined, name: DATA_DIR };
}

/** The arguments for implementing a surface over one port. */
export interface Over<Port> {
  readonly port: Port;
  readonly cursors: Cursors;
}

type Given<Port> = OpenDeps & OpenedPort<Port>;

/** A surface over one port. `more`: parts that the host needs apart from its methods. */
export const opening =
  <Port>(
    literal: PortLiteral<Port>,
    implement: (given: Given<Port>) => ImplementedSurface,
    more?: (given: Given<Port>) => Pick<OpenedSurface, 'offers' | 'sweep' | 'close'>,
  ): OpenSurface =>
  async (deps, capability) => {
    const backend = await openPort(literal, deps);
    // Read late: some backends know their kind only after a check
    const given = () => ({ ...deps, ...backend });
    const setting = settingOf(literal.setting, deps);
    const name = literal.setting && backend.kind === MISSING ? SETTINGS[literal.setting] : setting;
    return {
      implement: () => (backend.kind === MISSING ? null : implement(given())),
      backends: [{ capability, setting, name, backend }],
      ...more?.(given()),
    };
  };

/** A surface over a port of the host itself; absent if the host does not have the port. */
export const overHost =
  <Name extends keyof OpenDeps>(
    name: Name,
    implement: (port: NonNullable<OpenDeps[Name]>) => ImplementedSurface,
  ): OpenSurface =>
  async ({ [name]: port }) => ({ backends: [], implement: () => (port ? implement(port) : null) });

/** The setting that selects where the data is. */
export const settingOf = (port: keyof typeof SETTINGS | undefined, deps: OpenDeps): string =>
  placeOf(port, deps).name;

export const folderHealth =
  (
    { area = 'kv', folder = '' }: Pick<PortLiteral<unknown>, 'area' | 'folder'>,
    { dataDir, embedded }: OpenDeps,
  ) =>
  async (): Promise<void> => {
    await assertWritable(dataDir, folder);
    await embedded.health(area);
  };

/** `part`: a folder in the data folder; empty for the data folder itself. */
async function assertWritable(dataDir: string, part: string): Promise<void> {
  const folder = join(dataDir, part);
  const probe = join(folder, `.probe-${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(probe, 'x', { flag: 'wx', flush: true });
    await rm(probe);
  } catch (error) {
    const where = part === '' ? 'The data folder' : `"${part}" in the data folder`;
    const why = codeOf(error) ?? 'no reason given';
    throw refused(where, `cannot be written (${why}). Check its free disk space and its owner.`);
  }
}

/** Prefixes errors of opening with the setting. Such errors are permanent. */
export async function named<T>(setting: string, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    throw new Error(`${setting}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
