/** How the port of a surface opens: in the data folder, or on the server that its setting names. */

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
/** The value of a setting that keeps a port in the data folder although there is a database for all. */
export const IN_DATA_FOLDER = 'data-folder';

/**
 * By port: a URL or `data-folder`, or for `datasources` the path of a file. What is left out is in `database`, which
 * processes share, or else in the data folder.
 */
export type BackendSettings = { readonly [Port in keyof typeof SETTINGS | 'database']?: string | undefined };

/** What surfaces are opened with. */
export interface OpenDeps extends SurfacesOptions {
  readonly embedded: EmbeddedDatabase;
  readonly pool: PostgresPool;
  readonly cursors: Cursors;
}

export interface OpenedSurface {
  /** Null where the platform lacks it. To be called when servers were looked at. */
  implement(): ImplementedSurface | null;
  readonly backends: readonly ServedBackend[];
  /** What the host uses of it beside its methods. */
  readonly offers?: Partial<Pick<OpenedSurfaces, 'queue' | 'blobs' | 'servePresigned'>>;
  /** Deletes what is past its time; answers how much it was. */
  sweep?(now: number): Promise<number>;
  close?(): Promise<void>;
}

export type OpenSurface = (deps: OpenDeps, capability: string) => Promise<OpenedSurface>;

export interface OpenedPort<Port> {
  readonly kind: string;
  readonly port: Port;
  /** Rejects when the backend is not available. */
  health(): Promise<void>;
  /** What the operator should correct, although the backend can be used. */
  warning?(): Promise<string | null>;
}

export interface PortLiteral<Port> {
  readonly setting?: keyof typeof SETTINGS;
  embedded(deps: OpenDeps): Port | Promise<Port>;
  /** Where it is in the embedded database; in `surfaces.db` unless given. */
  readonly area?: AreaName;
  /** What else it keeps in the data folder. */
  readonly folder?: string;
  /** Why this platform cannot keep it in the data folder; null where it can. */
  lacks?(deps: OpenDeps): string | null;
  /** By scheme, without the colon. They connect to nothing yet. */
  readonly servers?: Servers<Port>;
}

type Servers<Port> = Readonly<Record<string, (url: string, deps: OpenDeps) => Promise<OpenedPort<Port>>>>;

/** By both schemes that PostgreSQL's own tools take. `portOf` loads its code, which only users of PostgreSQL need. */
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

/** A port that a tenant fills up to its quota, in the data folder or on PostgreSQL. */
export function quotaPort<Port extends object, Limits extends Quota>(
  setting: QuotaName & keyof typeof SETTINGS,
  limits: Limits,
  {
    embedded,
    postgres,
    ...rest
  }: Pick<PortLiteral<Port>, 'area' | 'folder'> & {
    embedded(deps: OpenDeps, limits: Limits): Port;
    /** Loads its code. */
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

/** Whether every part can be read. A fragment, or an `@` behind the host, is a password that is not encoded. */
export function isServerUrl(value: string): boolean {
  const [, rest = ''] = /^[^:]*:\/\/[^/?#]*(.*)$/s.exec(value) ?? [];
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, pathname } = new URL(value);
  // Has no password, and says better by itself what is wrong
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

/** By `schemes`, without the colon. Of the setting only the scheme is repeated: the rest may hold a password. */
export function notServed(name: string, value: string, schemes: readonly string[]): string {
  const served = schemes.map((each) => `${each}://`).join(' or ');
  const how = `${served}, or ${IN_DATA_FOLDER}. Left out, it follows ${DATABASE_URL}.`;
  return isServerUrl(value)
    ? `${name} asks for "${new URL(value).protocol}//", which is not served: use ${how}`
    : `${name} ${NO_URL}. Use ${how}`;
}

const MISSING = 'missing';

/** Connects to nothing. Never repeats the setting: it may hold a password. */
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

/** Some backends change their kind when they were looked at, so this is the same object. */
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

/** Where a port is, and which setting says so. Undefined: in the data folder. */
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

/** What a surface over one port is implemented with. */
export interface Over<Port> {
  readonly port: Port;
  readonly cursors: Cursors;
}

type Given<Port> = OpenDeps & OpenedPort<Port>;

/** A surface over one port. `more`: what the host needs beside its methods. */
export const opening =
  <Port>(
    literal: PortLiteral<Port>,
    implement: (given: Given<Port>) => ImplementedSurface,
    more?: (given: Given<Port>) => Pick<OpenedSurface, 'offers' | 'sweep' | 'close'>,
  ): OpenSurface =>
  async (deps, capability) => {
    const backend = await openPort(literal, deps);
    // Some know their kind only when they were looked at
    const given = () => ({ ...deps, ...backend });
    const setting = settingOf(literal.setting, deps);
    const name = literal.setting && backend.kind === MISSING ? SETTINGS[literal.setting] : setting;
    return {
      implement: () => (backend.kind === MISSING ? null : implement(given())),
      backends: [{ capability, setting, name, backend }],
      ...more?.(given()),
    };
  };

/** A surface over a port of the host itself; absent where the host has none. */
export const overHost =
  <Name extends keyof OpenDeps>(
    name: Name,
    implement: (port: NonNullable<OpenDeps[Name]>) => ImplementedSurface,
  ): OpenSurface =>
  async ({ [name]: port }) => ({ backends: [], implement: () => (port ? implement(port) : null) });

/** The setting that says where the data is. */
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

/** `part` of the data folder, or all of it. */
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

/** Names the setting in errors that can never pass. */
export async function named<T>(setting: string, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    throw new Error(`${setting}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
