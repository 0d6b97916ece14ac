/** The database files of a data folder. Each has threads of its own, so that none waits for another. */
import type { Area } from './area.ts';
import { AREAS } from './areas.ts';
import { databasePath, type FileFacts } from './open-file.ts';
import { RETRIEVAL_AREAS } from './retrieval-areas.ts';

export interface DatabaseFiles {
  readonly surfaces: typeof AREAS;
  /** Vectors and full text: queries here take tens of milliseconds where others take microseconds. */
  readonly retrieval: typeof RETRIEVAL_AREAS;
}

/** What a thread is told. */
export interface OpenFile {
  readonly file: keyof DatabaseFiles;
  readonly dataDir: string;
  readonly extensions: readonly string[];
}

const FILES = {
  surfaces: {
    name: 'surfaces.db',
    migrations: 'migrations',
    areas: AREAS,
    pageBytes: 4_096,
    readBigInts: false,
  },
  retrieval: {
    name: 'retrieval.db',
    migrations: 'retrieval-migrations',
    areas: RETRIEVAL_AREAS,
    // [m] A scan over 100,000 vectors of 1.5 KB takes 116 ms, with pages of 4 KiB 177 ms
    pageBytes: 16_384,
    // FTS5 leaves numbers of its own as the last row inserted, larger than a number can be: `run` would throw
    readBigInts: true,
  },
} as const;

export const factsOf = ({ file, dataDir, extensions }: OpenFile): FileFacts => {
  const { name, areas: _, ...facts } = FILES[file];
  return { path: databasePath(dataDir, name), ...facts, extensions };
};

export const areasOf = ({ file }: OpenFile): Readonly<Record<string, Area>> => FILES[file].areas;
