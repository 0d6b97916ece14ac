/** An embedded database as the main thread sees it: typed reads and writes by area. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { getLoadablePath } from 'sqlite-vec';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { SCAN_MS_MAX } from '../scan-time.ts';
import type { PortWrite } from '../surface-call.ts';
import type { Area } from './area.ts';
import type { DatabaseFiles, OpenFile } from './database-files.ts';
import { lateScan, type ScannedArea } from './late-scan.ts';
import { databasePath } from './open-file.ts';
import { Scans } from './scans.ts';
import { DatabaseThread } from './thread.ts';
import type { Request } from './wire.ts';

type AreaSet = Readonly<Record<string, Area>>;
type ReadsOf<S extends AreaSet, A extends keyof S> = ReturnType<S[A]['reads']>;
type WritesOf<S extends AreaSet, A extends keyof S> = ReturnType<S[A]['writes']>;
type ArgsOf<F> = F extends (...args: infer Args) => unknown ? Args : never;
type AnswerOf<F> = F extends (...args: never[]) => infer Answer ? Answer : never;

export interface DatabaseOf<S extends AreaSet> {
  read<A extends keyof S & string, N extends keyof ReadsOf<S, A> & string>(
    area: A,
    name: N,
    ...args: ArgsOf<ReadsOf<S, A>[N]>
  ): Promise<AnswerOf<ReadsOf<S, A>[N]>>;
  /** Once for each invocation; the same one again gets the recorded answer. */
  write<A extends keyof S & string, N extends keyof WritesOf<S, A> & string>(
    area: A,
    name: N,
    call: PortWrite,
    ...args: ArgsOf<WritesOf<S, A>[N]>
  ): Promise<AnswerOf<WritesOf<S, A>[N]>>;
  /** A write that is nobody's call. */
  upkeep<A extends keyof S & string, N extends keyof WritesOf<S, A> & string>(
    area: A,
    name: N,
    ...args: ArgsOf<WritesOf<S, A>[N]>
  ): Promise<AnswerOf<WritesOf<S, A>[N]>>;
  close(): Promise<void>;
}

interface OpensLate {
  /** False until something was asked of it. */
  isInUse(): boolean;
  /** Rejects when it is in use and cannot answer. Looking must not start what nobody uses. */
  health(): Promise<void>;
}

export interface EmbeddedDatabase extends DatabaseOf<DatabaseFiles['surfaces']>, OpensLate {}

export interface RetrievalDatabase extends DatabaseOf<DatabaseFiles['retrieval']>, OpensLate {
  /** False where sqlite-vec has no build for the platform: then there is full text alone. */
  readonly hasVectors: boolean;
}

/** A thread, or processes for reads that may take long. */
type Ask = (request: Omit<Request, 'id'>) => Promise<unknown>;

interface Connections {
  readonly writer: DatabaseThread;
  readerOf(area: string, name: string): Ask;
  /** Every request waits for it. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly dataDir: string;
  /** How long a read that looks through what is stored may take. A test's door: a host has `SCAN_MS_MAX`. */
  readonly scanMsMax?: number;
}

const threadOf = (entry: 'writer' | 'reader', file: OpenFile): DatabaseThread =>
  new DatabaseThread(new URL(`./${entry}.ts`, import.meta.url), file);

const scansOf = (area: ScannedArea, file: OpenFile, scanMsMax: number): Scans =>
  new Scans({ file, scanMsMax, late: () => lateScan(area, scanMsMax) });

/** Every read names its tenant first, by itself or in the place of what it reads. */
function tenantOf([first]: readonly unknown[]): string {
  if (typeof first === 'string') return first;
  const isPlace = typeof first === 'object' && first !== null && 'tenant' in first;
  return isPlace ? String(first.tenant) : '';
}

const scanning =
  (scans: Scans): Ask =>
  (request) =>
    scans.request(tenantOf(request.args), request);

/** Everything else that is read from `surfaces.db` is found by its key. */
const isScan = (area: string, name: string): boolean =>
  area === 'documents' && (name === 'find' || name === 'count' || name === 'match');

/** Threads start with the first request: a host whose packs store nothing does not pay for them. */
function firstUse(open: () => Promise<void>) {
  const opened = openedWhenNeeded({ open });
  let wasAsked = false;
  return {
    ready(): Promise<void> {
      wasAsked = true;
      return opened.get();
    },
    isInUse: (): boolean => wasAsked,
    close: opened.close,
  };
}

/** `surfaces.db` of a data folder. One that is there is opened, and migrated, at once. */
export async function openEmbeddedDatabase(options: DatabaseOptions): Promise<EmbeddedDatabase> {
  const dataDir = resolve(options.dataDir);
  const file = { file: 'surfaces', dataDir, extensions: [] } as const;
  const [writer, reader] = [threadOf('writer', file), threadOf('reader', file)];
  const scans = scansOf('documents', file, options.scanMsMax ?? SCAN_MS_MAX);
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
  const readerOf = (area: string, name: string): Ask => (isScan(area, name) ? byScan : byKey);
  const database = databaseOver<'surfaces'>({ writer, readerOf, ready: use.ready, close });
  const health = async (): Promise<void> => {
    if (use.isInUse()) await database.read('queue', 'lastSeq', '', '');
  };
  return { ...database, isInUse: use.isInUse, health };
}

/**
 * `retrieval.db` of a data folder. It is made, and its writer starts, when it is first used: hosts without vectors
 * and full text do not pay for them. Areas have readers of their own, so that a search by words never waits for
 * vectors.
 */
export function openRetrievalDatabase(options: DatabaseOptions): RetrievalDatabase {
  const dataDir = resolve(options.dataDir);
  const extensions = vectorExtension();
  const file = { file: 'retrieval', dataDir, extensions } as const;
  const writer = threadOf('writer', file);
  const use = firstUse(() => writer.open());
  const scanMsMax = options.scanMsMax ?? SCAN_MS_MAX;
  const [words, vectors] = [scansOf('search', file, scanMsMax), scansOf('vectors', file, scanMsMax)];
  const [byWords, byVector] = [scanning(words), scanning(vectors)];
  const close = async (): Promise<void> => {
    await use.close();
    await Promise.all([words.close(), vectors.close()]);
    await writer.close();
  };
  const readerOf = (area: string): Ask => (area === 'search' ? byWords : byVector);
  const database = databaseOver<'retrieval'>({ writer, readerOf, ready: use.ready, close });
  const health = async (): Promise<void> => {
    if (use.isInUse()) await database.read('search', 'ping');
  };
  return { ...database, isInUse: use.isInUse, health, hasVectors: extensions.length > 0 };
}

function vectorExtension(): string[] {
  try {
    return [getLoadablePath()];
  } catch {
    return [];
  }
}

function databaseOver<F extends keyof DatabaseFiles>({
  writer,
  readerOf,
  ready,
  close,
}: Connections): DatabaseOf<DatabaseFiles[F]> {
  const write: Ask = (request) => writer.request(request);
  const ask = async (
    answer: Ask,
    area: string,
    name: string,
    args: readonly unknown[],
    call?: PortWrite,
  ): Promise<never> => {
    await ready();
    const invocation = call ? { call: call.invocation, now: call.now } : null;
    return answer({ area, name, args, invocation }) as Promise<never>;
  };
  return {
    read: (area, name, ...args) => ask(readerOf(area, name), area, name, args),
    write: (area, name, call, ...args) => ask(write, area, name, args, call),
    upkeep: (area, name, ...args) => ask(write, area, name, args),
    close,
  };
}
