/** The database files of a data folder. Each kind has threads of its own, so that none waits for another. */
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

/** Every file has its own. */
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
  /** Queries here take tens of milliseconds where others take microseconds. */
  retrieval: { invocations, vectors: vectorsArea },
  search: { invocations, search: searchArea },
} as const;

export type FileName = keyof typeof AREAS;
export type Areas = (typeof AREAS)['surfaces'] & (typeof AREAS)['retrieval'] & (typeof AREAS)['search'];
export type AreaName = keyof Areas;

/** Of an area that is not in all of them. */
export const fileOf = (area: AreaName): FileName =>
  area === 'vectors' ? 'retrieval' : area === 'search' ? 'search' : 'surfaces';

export interface OpenFile {
  readonly file: FileName;
  readonly dataDir: string;
  readonly extensions: readonly string[];
}

/** In the data folder. */
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
  /** An index is 11 tables that every connection parses after a change. Measured: 1,000 in one file: 2.2 s for a query. */
  search: {
    // Names of tenants may be anything; a hash of one is a name that every file system takes
    nameOf: (tenant: string) => join(PLACES.search, `${hash('sha256', tenant)}.db`),
    // Measured: an empty index takes 38 KB, with pages of 16 KiB 150 KB
    pageBytes: 4_096,
    cacheKib: 4_096,
    // FTS5 leaves numbers of its own as the last row inserted, larger than a number can be: `run` would throw
    readBigInts: true,
  },
} as const;

/** `tenant`: whose file it is, where each has one. */
export const factsOf = ({ file, dataDir, extensions }: OpenFile, tenant = ''): FileFacts => {
  const { nameOf, ...facts } = FILES[file];
  return { path: databasePath(dataDir, nameOf(tenant)), schema: file, ...facts, extensions };
};

export const areasOf = ({ file }: OpenFile): Readonly<Record<string, Area>> => AREAS[file];
