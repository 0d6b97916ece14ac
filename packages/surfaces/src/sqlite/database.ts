/** An embedded database as the main thread sees it: typed reads and writes by area. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { getLoadablePath } from 'sqlite-vec';
import { SCAN_MS_MAX } from '../deadline.ts';
import type { DatabaseFiles, OpenFile } from './database-files.ts';
import {
  type Ask,
  type DatabaseOf,
  databaseOver,
  firstUse,
  scanning,
  scansOf,
  threadOf,
} from './database-parts.ts';
import { databasePath } from './open-file.ts';
import type { ScannedArea } from './scans.ts';
import { FORGET } from './wire.ts';

interface OpensLate {
  /** False until something was asked of it. */
  isInUse(): boolean;
  /** Rejects when it is in use and cannot answer. Looking must not start what nobody uses. */
  health(): Promise<void>;
}

export interface EmbeddedDatabase extends DatabaseOf<DatabaseFiles['surfaces']>, OpensLate {}

type RetrievalAreas = DatabaseFiles['retrieval'] & DatabaseFiles['search'];

export interface RetrievalDatabase extends DatabaseOf<RetrievalAreas>, OpensLate {
  /** False where sqlite-vec has no build for the platform: then there is full text alone. */
  readonly hasVectors: boolean;
}

export interface DatabaseOptions {
  readonly dataDir: string;
  /** How long a read that looks through what is stored may take. A test's door: a host has `SCAN_MS_MAX`. */
  readonly scanMsMax?: number;
}

/** Everything else that is read from `surfaces.db` is found by its key. */
const isScan = (area: string, name: string): boolean =>
  area === 'documents' && (name === 'find' || name === 'count' || name === 'match');

/** `surfaces.db` of a data folder. An existing one is opened at once. */
export async function openEmbeddedDatabase(options: DatabaseOptions): Promise<EmbeddedDatabase> {
  const dataDir = resolve(options.dataDir);
  const file = { file: 'surfaces', dataDir, extensions: [] } as const;
  const [writer, reader] = [threadOf('writer', file), threadOf('reader', file)];
  const scans = scansOf({ area: 'documents', file, writer, scanMsMax: options.scanMsMax ?? SCAN_MS_MAX });
  const use = firstUse(async () => {
    await writer.open();
    await reader.open();
  });
  const close = async (): Promise<void> => {
    await use.close();
    await Promise.all([reader.close(), scans.close()]);
    await writer.close();
  };
  try {
    if (existsSync(databasePath(dataDir))) await use.ready();
  } catch (error) {
    await close();
    throw error;
  }
  const byKey: Ask = (request) => reader.request(request);
  const byScan = scanning(scans);
  const database = databaseOver<DatabaseFiles['surfaces']>({
    readerOf: (area, name) => (isScan(area, name) ? byScan : byKey),
    writerOf: () => (request) => writer.request(request),
    ready: use.ready,
    close,
  });
  const health = async (): Promise<void> => {
    if (use.isInUse()) await database.read('queue', 'lastSeq', '', '');
  };
  return { ...database, isInUse: use.isInUse, health };
}

/** Vectors in `retrieval.db`, full text in a file for each tenant. Each is created on first use. */
export function openRetrievalDatabase(options: DatabaseOptions): RetrievalDatabase {
  const dataDir = resolve(options.dataDir);
  const extensions = vectorExtension();
  const { scanMsMax = SCAN_MS_MAX } = options;
  const vectors = openPart({ file: 'retrieval', dataDir, extensions }, 'vectors', scanMsMax);
  const words = openPart({ file: 'search', dataDir, extensions: [] }, 'search', scanMsMax);
  const parts = [vectors, words];
  const partOf = (area: string) => (area === 'search' ? words : vectors);
  const inUse = () => parts.filter((part) => part.isInUse());
  const forget: Ask = async (request) => {
    const forgotten = await Promise.all(inUse().map((part) => part.write(request)));
    return forgotten.reduce((sum: number, many) => sum + Number(many), 0);
  };
  const database = databaseOver<RetrievalAreas>({
    readerOf: (area) => partOf(area).scan,
    writerOf: (area) => (area === FORGET.area ? forget : partOf(area).write),
    ready: async (area) => {
      if (area !== FORGET.area) await partOf(area).ready();
    },
    close: async () => void (await Promise.all(parts.map((part) => part.close()))),
  });
  const health = async (): Promise<void> => {
    if (words.isInUse()) await database.read('search', 'ping');
    if (vectors.isInUse()) await database.read('vectors', 'ping');
  };
  return { ...database, isInUse: () => inUse().length > 0, health, hasVectors: extensions.length > 0 };
}

function openPart(file: OpenFile, area: ScannedArea, scanMsMax: number) {
  const writer = threadOf('writer', file);
  const { ready, isInUse, close } = firstUse(() => writer.open());
  const scans = scansOf({ area, file, writer, scanMsMax });
  return {
    ready,
    isInUse,
    scan: scanning(scans),
    write: ((request) => writer.request(request)) satisfies Ask,
    async close(): Promise<void> {
      await close();
      await scans.close();
      await writer.close();
    },
  };
}

function vectorExtension(): string[] {
  try {
    return [getLoadablePath()];
  } catch {
    return [];
  }
}
