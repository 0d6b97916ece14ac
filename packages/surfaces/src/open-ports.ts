/** Every port with the backend that its setting names; without one, in the data folder. */

import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, refused } from './backend-errors.ts';
import { absencesOf, createOutageReport, type ServedBackend } from './backend-health.ts';
import { openEmbeddedBlobs } from './capabilities/blob/embedded-blobs.ts';
import { openFiles } from './capabilities/fs/files/open-files.ts';
import { NOSQL_LIMITS } from './capabilities/nosql/surface.ts';
import { SEARCH_LIMITS } from './capabilities/search/surface.ts';
import type { DatasourceBackend } from './capabilities/sql/datasources.ts';
import { openSql } from './capabilities/sql/open.ts';
import { TABLE_LIMITS } from './capabilities/table/surface.ts';
import { openVectors } from './capabilities/vector/open-vectors.ts';
import { VECTOR_LIMITS } from './capabilities/vector/surface.ts';
import { openBlobs, openCache, openDocuments, openKv, openQueue, openSearch } from './open-backends.ts';
import { named, type OpenedPort, SETTINGS } from './open-port.ts';
import type { BackendSettings, SurfacesOptions } from './open-surfaces.ts';
import { createPostgresPool } from './postgres/connection.ts';
import { openEmbeddedDatabase, openRetrievalDatabase } from './sqlite/database.ts';

const MIB = 1_048_576;
const GIB = 1_024 * MIB;
/** Of each tenant. */
const ROOM = { kv: 256 * MIB, cache: 64 * MIB, blobs: GIB, files: GIB };

export type Ports = Awaited<ReturnType<typeof openPorts>>;

/**
 * An unreachable server is reported, and used when it answers; a misconfigured one is an error. What is open
 * already is closed then.
 */
export async function openPorts(options: SurfacesOptions) {
  const { backends, report, now } = options;
  const closing: (() => Promise<unknown>)[] = [];
  const outages = createOutageReport({ report, now });
  try {
    const ports = await open({ ...options, report: outages.fault }, closing);
    const servers = ports.served.filter(({ port }) => port !== null && backends[port] !== undefined);
    for (const absence of await absencesOf(servers)) outages.absent(absence);
    return ports;
  } catch (error) {
    await Promise.allSettled(closing.toReversed().map((close) => close()));
    throw error;
  }
}

async function open(options: SurfacesOptions, closing: (() => Promise<unknown>)[]) {
  const { dataDir, invocationRetentionMs, backends, now, report } = options;
  const embedded = await openEmbeddedDatabase({ dataDir });
  closing.push(() => embedded.close());
  const retrieval = openRetrievalDatabase({ dataDir });
  closing.push(() => retrieval.close());
  const pool = createPostgresPool();
  closing.push(() => pool.close());
  const sql = await named(
    SETTINGS.datasources,
    openSql(backends.datasources, { dataDir, invocationRetentionMs }),
  );
  closing.push(() => sql.close());

  const kv = await openKv(backends.kv, { embedded, pool, quotaBytes: ROOM.kv });
  const cache = await openCache(backends.cache, { embedded, pool, capacityBytes: ROOM.cache });
  const tables = await openDocuments(backends.documents, { embedded, pool, limits: TABLE_LIMITS });
  const documents = await openDocuments(backends.documents, { embedded, pool, limits: NOSQL_LIMITS });
  const vectors = await openVectors(backends.vectors, { embedded: retrieval, pool, limits: VECTOR_LIMITS });
  const search = await openSearch(backends.search, { embedded: retrieval, pool, limits: SEARCH_LIMITS });
  const queue = await openQueue(backends.queue, { embedded, pool, now, report });
  closing.push(() => queue.port.close());
  const ownBlobs = await openEmbeddedBlobs({
    database: embedded,
    dataDir,
    quotaBytes: ROOM.blobs,
    links: options.blobLinks,
  });
  const blobs = await openBlobs(backends.blobs, { embedded: ownBlobs });
  closing.push(() => blobs.port.close());
  const files = await openFiles({
    database: embedded,
    dataDir,
    quotaBytes: ROOM.files,
    now,
  });
  const served = servedBy({ kv, cache, documents: tables, vectors, search, queue, blobs }, sql.backends);
  return {
    kv,
    cache,
    tables,
    documents,
    vectors,
    search,
    queue,
    blobs,
    files,
    sql,
    ownBlobs,
    embedded,
    retrieval,
    pool,
    settings: new Map(served.map((each) => [each.capability, settingOf(each, backends)])),
    served: served.map((each) =>
      each.backend.kind === 'embedded'
        ? inFolder(each, dataDir, RETRIEVAL.has(each.capability) ? retrieval : embedded)
        : each,
    ),
    close: async (): Promise<void> => {
      for (const close of closing.toReversed()) await close();
    },
  };
}

const DATA_DIR = 'GANTRY_DATA_DIR';

/** What the operator sets to have the data elsewhere, or where it is. */
const settingOf = ({ port }: Served, backends: BackendSettings): string =>
  port === null || backends[port] === undefined ? DATA_DIR : SETTINGS[port];

/** By capability, what of the data folder is not in a database. */
const PARTS: Readonly<Record<string, string>> = {
  blobStorage: 'blobs',
  fs: 'files',
  searchIndex: 'search',
  sql: 'sql',
};

const RETRIEVAL: ReadonlySet<string> = new Set(['vectorStore', 'searchIndex']);

const inFolder = (served: Served, dataDir: string, database: { health(): Promise<void> }): Served => ({
  ...served,
  name: DATA_DIR,
  backend: {
    kind: served.backend.kind,
    async health() {
      await assertWritable(dataDir, PARTS[served.capability]);
      await database.health();
    },
  },
});

type Served = ServedBackend & { readonly port: keyof typeof SETTINGS | null };
const IN_FOLDER: ServedBackend['backend'] = { kind: 'embedded', health: async () => {} };
type OpenedPorts = Readonly<Record<Exclude<keyof typeof SETTINGS, 'datasources'>, OpenedPort<unknown>>>;

function servedBy(ports: OpenedPorts, datasources: readonly DatasourceBackend[]): readonly Served[] {
  const serve = (capability: string, port: keyof OpenedPorts): Served => ({
    capability,
    port,
    name: SETTINGS[port],
    backend: ports[port],
  });
  return [
    serve('kvStorage', 'kv'),
    serve('cache', 'cache'),
    serve('tableStorage', 'documents'),
    serve('nosql', 'documents'),
    ...datasources.map(
      (backend): Served => ({
        capability: 'sql',
        port: 'datasources',
        datasource: backend.id,
        name: `${SETTINGS.datasources}: Data source "${backend.id}"`,
        backend,
      }),
    ),
    serve('vectorStore', 'vectors'),
    serve('searchIndex', 'search'),
    serve('queueBus', 'queue'),
    serve('blobStorage', 'blobs'),
    { capability: 'fs', port: null, name: DATA_DIR, backend: IN_FOLDER },
  ];
}

/** `part` of the data folder, or all of it. */
export async function assertWritable(dataDir: string, part = ''): Promise<void> {
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
