/** An embedded database as the main thread sees it: typed reads and writes by area. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { getLoadablePath } from 'sqlite-vec';
import { noteWrite } from '../calls/call-journal.ts';
import type { PortWrite } from '../calls/surface-call.ts';
import { SCAN_MS_MAX } from '../deadline.ts';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import type { DatabaseFiles, OpenFile } from './database-files.ts';
import { databasePath } from './open-file.ts';
import { type ScannedArea, Scans } from './scans.ts';
import type { Area } from './statements.ts';
import { DatabaseThread } from './thread.ts';
import { type Asked, CHECKPOINT, FORGET, FORGET_RUN, isAsked } from './wire.ts';

type AreaSet = Readonly<Record<string, Area>>;
type ReadsOf<S extends AreaSet, A extends keyof S> = ReturnType<S[A]['reads']>;
type WritesOf<S extends AreaSet, A extends keyof S> = ReturnType<S[A]['writes']>;
type ArgsOf<F> = F extends (...args: infer Args) => unknown ? Args : never;
type AnswerOf<F> = F extends (...args: never[]) => infer Answer ? Answer : never;

interface DatabaseOf<S extends AreaSet> {
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
  /** A write without a call. */
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
  /** Rejects when it is in use and cannot answer. Never starts what is not in use. */
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
  /** The limit of a scan, for tests; a host has `SCAN_MS_MAX`. */
  readonly scanMsMax?: number;
}

/** Everything else that is read from `surfaces.db` is found by its key. */
const isScan = (area: string, name: string): boolean =>
  area === 'documents' && (name === 'find' || name === 'count' || name === 'match');

/** `surfaces.db` of a data folder. An existing one is opened at once. */
export async function openEmbeddedDatabase(options: DatabaseOptions): Promise<EmbeddedDatabase> {
  const dataDir = resolve(options.dataDir);
  const file = openFile({ file: 'surfaces', dataDir, extensions: [] }, 'documents', options.scanMsMax);
  try {
    if (existsSync(databasePath(dataDir))) await file.ready();
  } catch (error) {
    await file.close();
    throw error;
  }
  const database = databaseOver<DatabaseFiles['surfaces']>({
    ...file,
    readerOf: (area, name) => (isScan(area, name) ? file.scan : file.readByKey),
    writerOf: () => file.write,
  });
  const health = async (): Promise<void> => {
    if (file.isInUse()) await database.read('queue', 'lastSeq', '', '');
  };
  return { ...database, isInUse: file.isInUse, health };
}

/** Vectors in `retrieval.db`, full text in a file for each tenant. Each is created on first use. */
export function openRetrievalDatabase({ scanMsMax, ...options }: DatabaseOptions): RetrievalDatabase {
  const dataDir = resolve(options.dataDir);
  const extensions = vectorExtension();
  const vectors = openFile({ file: 'retrieval', dataDir, extensions }, 'vectors', scanMsMax);
  const words = openFile({ file: 'search', dataDir, extensions: [] }, 'search', scanMsMax);
  const files = [vectors, words];
  const isKept = (name: string): boolean => existsSync(databasePath(dataDir, name));
  const fileOf = (area: string) => (area === 'search' ? words : vectors);
  const inUse = () => files.filter((file) => file.isInUse());
  /** A sweep has time until a file is used again; a deletion has not. */
  const forget: Ask = async (request) => {
    if (isAsked(request, FORGET_RUN)) {
      if (isKept('retrieval.db')) await vectors.ready();
      if (isKept('search')) await words.ready();
    }
    const forgotten = await Promise.all(inUse().map((file) => file.write(request)));
    return forgotten.reduce((sum: number, many) => sum + Number(many), 0);
  };
  const database = databaseOver<RetrievalAreas>({
    readerOf: (area) => fileOf(area).scan,
    writerOf: (area) => (area === FORGET.area ? forget : fileOf(area).write),
    ready: async (area) => {
      if (area !== FORGET.area) await fileOf(area).ready();
    },
    close: async () => void (await Promise.all(files.map((file) => file.close()))),
  });
  const health = async (): Promise<void> => {
    if (words.isInUse()) await database.read('search', 'ping');
    if (vectors.isInUse()) await database.read('vectors', 'ping');
  };
  return { ...database, isInUse: () => inUse().length > 0, health, hasVectors: extensions.length > 0 };
}

/** A thread, or processes for reads that may take long. */
type Ask = (request: Asked) => Promise<unknown>;

/** Its threads start with the first request: a host whose packs store nothing does not pay for them. */
function openFile(file: OpenFile, area: ScannedArea, scanMsMax = SCAN_MS_MAX) {
  const threadOf = (role: 'writer' | 'reader') =>
    new DatabaseThread(new URL('./thread-entry.ts', import.meta.url), { role, file });
  const writer = threadOf('writer');
  // What is not found by its key is read by scans
  const reader = file.file === 'surfaces' ? threadOf('reader') : null;
  const checkpoint = (tenant: string) => writer.request({ ...CHECKPOINT, args: [tenant], invocation: null });
  const scans = new Scans({ area, file, scanMsMax, checkpoint });
  const opened = openedWhenNeeded({
    async open() {
      await writer.open();
      await reader?.open();
    },
  });
  let wasAsked = false;
  return {
    ready(): Promise<void> {
      wasAsked = true;
      return opened.get();
    },
    isInUse: (): boolean => wasAsked,
    write: (request: Asked) => writer.request(request),
    readByKey: (request: Asked) => (reader ?? writer).request(request),
    scan: (request: Asked) => scans.request(tenantOf(request.args), request),
    async close(): Promise<void> {
      await opened.close();
      await Promise.all([reader?.close(), scans.close()]);
      await writer.close();
    },
  };
}

/** Every read names its tenant first, by itself or in the place of what it reads. */
function tenantOf([first]: readonly unknown[]): string {
  if (typeof first === 'string') return first;
  const isTarget = typeof first === 'object' && first !== null && 'tenant' in first;
  return isTarget ? String(first.tenant) : '';
}

function vectorExtension(): string[] {
  try {
    return [getLoadablePath()];
  } catch {
    return [];
  }
}

interface Connections {
  readerOf(area: string, name: string): Ask;
  writerOf(area: string): Ask;
  /** Every request waits for it. */
  ready(area: string): Promise<void>;
  close(): Promise<void>;
}

function databaseOver<S extends AreaSet>(connections: Connections): DatabaseOf<S> {
  const { readerOf, writerOf, ready, close } = connections;
  const ask = async (
    answer: Ask,
    area: string,
    name: string,
    args: readonly unknown[],
    call?: PortWrite,
  ): Promise<never> => {
    await ready(area);
    const invocation = call ? { call: call.invocation, now: call.now } : null;
    return answer({ area, name, args, invocation }) as Promise<never>;
  };
  return {
    read: (area, name, ...args) => ask(readerOf(area, name), area, name, args),
    async write(area, name, call, ...args) {
      noteWrite(call.invocation);
      return ask(writerOf(area), area, name, args, call);
    },
    upkeep: (area, name, ...args) => ask(writerOf(area), area, name, args),
    close,
  };
}
