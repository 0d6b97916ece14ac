/** The database files of a data folder. Each kind has its own threads, so that none waits for another. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { blobArea } from './blobs.ts';
import { cacheArea } from './cache.ts';
import { documentsArea } from './documents.ts';
import { fileArea } from './files.ts';
import { invocationArea } from './invocations.ts';
import { kvArea } from './kv.ts';
import { databasePath, type FileFacts } from './open-file.ts';
import { queueArea } from './queue.ts';
import { searchArea } from './search.ts';
import type { Area } from './statements.ts';
import { vectorsArea } from './vectors.ts';

/** Every file has its own journal. */
const invocations = invocationArea;

/** A new surface adds its line here, and its tables to `schema/surfaces.sql`. */
const AREAS = {
  surfaces: {
    invocations,
    kv: kvArea,
    cache: cacheArea,
    documents: documentsArea,
    queue: queueArea,
    blobs: blobArea,
    files: fileArea,
  },
  /** Queries here take tens of milliseconds; in other files microseconds. */
  retrieval: { invocations, vectors: vectorsArea },
  search: { invocations, search: searchArea },
} as const;

export type FileName = keyof typeof AREAS;
export type Areas = (typeof AREAS)['surfaces'] & (typeof AREAS)['retrieval'] & (typeof AREAS)['search'];
export type AreaName = keyof Areas;

/** The file of an area; not for areas that are in every file. */
export const fileOf = (area: AreaName): FileName =>
  area === 'vectors' ? 'retrieval' : area === 'search' ? 'search' : 'surfaces';

export interface OpenFile {
  readonly file: FileName;
  readonly dataDir: string;
  readonly extensions: readonly string[];
}

/** Paths in the data folder. */
export const PLACES: Readonly<Record<FileName, string>> = {
  surfaces: 'surfaces.db',
  retrieval: 'retrieval.db',
  search: 'search',
};

const FILES = {
  surfaces: {
    nameOf: () => PLACES.surfaces,
    pageBytes: 4_096,
    cacheKib: 16_384,
    readBigInts: false,
  },
  retrieval: {
    nameOf: () => PLACES.retrieval,
    // Measured: a scan over 100,000 vectors of 1.5 KB takes 116 ms, with pages of 4 KiB 177 ms
    pageBytes: 16_384,
    cacheKib: 16_384,
    readBigInts: true,
  },
  /**
   * An index is 11 tables that every connection parses after a change. Measured: 1,000 in one file: 2.2 s for a query.
   */
  search: {
    // Tenant names may contain any character; a hash is a valid name in every file system
    nameOf: (tenant: string) => join(PLACES.search, `${hash('sha256', tenant)}.db`),
    // Measured: an empty index takes 38 KB, with pages of 16 KiB 150 KB
    pageBytes: 4_096,
    cacheKib: 4_096,
    // FTS5 leaves a last inserted rowid that exceeds a JavaScript number: `run` would throw
    readBigInts: true,
  },
} as const;

/** `tenant`: the owner of the file, if each tenant has its own. */
export const factsOf = ({ file, dataDir, extensions }: OpenFile, tenant = ''): FileFacts => {
  const { nameOf, ...facts } = FILES[file];
  return { path: databasePath(dataDir, nameOf(tenant)), schema: file, ...facts, extensions };
};

export const areasOf = ({ file }: OpenFile): Readonly<Record<string, Area>> => AREAS[file];
