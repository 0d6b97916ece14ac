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

/** A new surface adds its line here, and its tables to `schema/surfaces.sql`. */
export const AREAS = {
  invocations: invocationArea,
  kv: kvArea,
  cache: cacheArea,
  documents: documentsArea,
  queue: queueArea,
  blobs: blobArea,
  files: fileArea,
} as const;

export const VECTOR_AREAS = { invocations: invocationArea, vectors: vectorsArea } as const;

export const SEARCH_AREAS = { invocations: invocationArea, search: searchArea } as const;

export interface DatabaseFiles {
  readonly surfaces: typeof AREAS;
  /** Vectors: queries here take tens of milliseconds where others take microseconds. */
  readonly retrieval: typeof VECTOR_AREAS;
  readonly search: typeof SEARCH_AREAS;
}

export interface OpenFile {
  readonly file: keyof DatabaseFiles;
  readonly dataDir: string;
  readonly extensions: readonly string[];
}

const FILES = {
  surfaces: {
    nameOf: () => 'surfaces.db',
    areas: AREAS,
    pageBytes: 4_096,
    cacheKib: 16_384,
    readBigInts: false,
  },
  retrieval: {
    nameOf: () => 'retrieval.db',
    areas: VECTOR_AREAS,
    // Measured: a scan over 100,000 vectors of 1.5 KB takes 116 ms, with pages of 4 KiB 177 ms
    pageBytes: 16_384,
    cacheKib: 16_384,
    readBigInts: true,
  },
  /** An index is 11 tables that every connection parses after a change. Measured: 1,000 in one file: 2.2 s for a query. */
  search: {
    // Names of tenants may be anything; a hash of one is a name that every file system takes
    nameOf: (tenant: string) => join('search', `${hash('sha256', tenant)}.db`),
    areas: SEARCH_AREAS,
    // Measured: an empty index takes 38 KB, with pages of 16 KiB 150 KB
    pageBytes: 4_096,
    cacheKib: 4_096,
    // FTS5 leaves numbers of its own as the last row inserted, larger than a number can be: `run` would throw
    readBigInts: true,
  },
} as const;

/** `tenant`: whose file it is, where each has one. */
export const factsOf = ({ file, dataDir, extensions }: OpenFile, tenant = ''): FileFacts => {
  const { nameOf, areas: _, ...facts } = FILES[file];
  return { path: databasePath(dataDir, nameOf(tenant)), schema: file, ...facts, extensions };
};

export const areasOf = ({ file }: OpenFile): Readonly<Record<string, Area>> => FILES[file].areas;
