/** The embedded database in the main thread: typed reads and writes by area. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { getLoadablePath } from 'sqlite-vec';
import { noteWrite } from '../calls/call-journal.ts';
import type { PortWrite } from '../calls/surface-call.ts';
import { SCAN_MS_MAX } from '../deadline.ts';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import { type AreaName, type Areas, fileOf, type OpenFile, PLACES } from './database-files.ts';
import { databasePath } from './open-file.ts';
import { type ScannedArea, Scans } from './scans.ts';
import { DatabaseThread } from './thread.ts';
import { type Asked, CHECKPOINT, FORGET, FORGET_RUN, isAsked } from './wire.ts';

type Reads<A extends AreaName> = ReturnType<Areas[A]['reads']>;
type Writes<A extends AreaName> = ReturnType<Areas[A]['writes']>;
type ArgsOf<F> = F extends (...args: infer Args) => unknown ? Args : never;
type AnswerOf<F> = F extends (...args: never[]) => infer Answer ? Answer : never;

/** Threads and processes of a file start on first use, so a host whose packs store nothing has none of them. */
export interface EmbeddedDatabase {
  read<A extends AreaName, N extends keyof Reads<A> & string>(
    area: A,
    name: N,
    ...args: ArgsOf<Reads<A>[N]>
  ): Promise<AnswerOf<Reads<A>[N]>>;
  /** Acts once per invocation; a repeated one gets the recorded answer. */
  write<A extends AreaName, N extends keyof Writes<A> & string>(
    area: A,
    name: N,
    call: PortWrite,
    ...args: ArgsOf<Writes<A>[N]>
  ): Promise<AnswerOf<Writes<A>[N]>>;
  /** A write without a call. For `invocations` it applies to all files in use, and `forgetRun` to all that exist. */
  upkeep<A extends AreaName, N extends keyof Writes<A> & string>(
    area: A,
    name: N,
    ...args: ArgsOf<Writes<A>[N]>
  ): Promise<AnswerOf<Writes<A>[N]>>;
  /** False where sqlite-vec has no build for the platform: then only full text is available. */
  readonly hasVectors: boolean;
  /** False until the file of the area is first used. */
  isInUse(area: AreaName): boolean;
  /** Rejects if that file is in use and does not answer. Checks vectors and full text together. Opens no file. */
  health(area: AreaName): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly dataDir: string;
  /** The time limit of a scan, for tests. Default: `SCAN_MS_MAX`. */
  readonly scanMsMax?: number;
}

/** Opens an existing `surfaces.db` at once, so that a host fails to start if it cannot be used. */
export async function openEmbeddedDatabase(options: DatabaseOptions): Promise<EmbeddedDatabase> {
  const database = openDatabase(options);
  try {
    if (existsSync(databasePath(options.dataDir))) await database.read('queue', 'lastSeq', '', '');
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** All other reads of `surfaces.db` are by key; reads of other files are scans. */
const isScan = (area: string, name: string): boolean =>
  area === 'vectors' ||
  area === 'search' ||
  (area === 'documents' && ['find', 'count', 'match'].includes(name));

/** All areas are in `surfaces.db`, except vectors in `retrieval.db` and full text in one file per tenant. */
export function openDatabase({ scanMsMax, ...options }: DatabaseOptions): EmbeddedDatabase {
  const dataDir = resolve(options.dataDir);
  const extensions = vectorExtension();
  const files = {
    surfaces: openFile({ file: 'surfaces', dataDir, extensions: [] }, 'documents', scanMsMax),
    retrieval: openFile({ file: 'retrieval', dataDir, extensions }, 'vectors', scanMsMax),
    search: openFile({ file: 'search', dataDir, extensions: [] }, 'search', scanMsMax),
  };
  const all = Object.values(files);
  const write = async (file: DatabaseFile, request: Asked): Promise<unknown> => {
    await file.ready();
    return file.write(request);
  };
  /** A sweep can wait until a file is used again; the deletion of a run cannot. */
  const forget = async (request: Asked): Promise<number> => {
    const isMeant = isAsked(request, FORGET_RUN) ? 'isKept' : 'isInUse';
    const forgotten = await Promise.all(
      all.filter((file) => file[isMeant]()).map((file) => write(file, request)),
    );
    return forgotten.reduce((sum: number, many) => sum + Number(many), 0);
  };
  const upkeep = async (area: AreaName, name: string, args: readonly unknown[], call?: PortWrite) => {
    const invocation = call ? { call: call.invocation, now: call.now } : null;
    const request = { area, name, args, invocation };
    return (area === FORGET.area ? forget(request) : write(files[fileOf(area)], request)) as Promise<never>;
  };
  const read = async (area: AreaName, name: string, args: readonly unknown[]) => {
    const file = files[fileOf(area)];
    await file.ready();
    const request = { area, name, args, invocation: null };
    return (isScan(area, name) ? file.scan(request) : file.readByKey(request)) as Promise<never>;
  };
  const isInUse = (area: AreaName): boolean => files[fileOf(area)].isInUse();
  return {
    read: (area, name, ...args) => read(area, name, args),
    async write(area, name, call, ...args) {
      noteWrite(call.invocation);
      return upkeep(area, name, args, call);
    },
    upkeep: (area, name, ...args) => upkeep(area, name, args),
    hasVectors: extensions.length > 0,
    isInUse,
    async health(area) {
      const looked = fileOf(area) === 'surfaces' ? (['queue'] as const) : (['search', 'vectors'] as const);
      for (const each of looked.filter(isInUse))
        await (each === 'queue' ? read(each, 'lastSeq', ['', '']) : read(each, 'ping', []));
    },
    close: async () => void (await Promise.all(all.map((file) => file.close()))),
  };
}

type DatabaseFile = ReturnType<typeof openFile>;

function openFile(file: OpenFile, area: ScannedArea, scanMsMax = SCAN_MS_MAX) {
  const threadOf = (role: 'writer' | 'reader') =>
    new DatabaseThread(new URL('./thread-entry.ts', import.meta.url), { role, file });
  const writer = threadOf('writer');
  // Reads that are not by key are scans
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
    isKept: (): boolean => existsSync(databasePath(file.dataDir, PLACES[file.file])),
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

/** The first argument of every read is its tenant, or a target that has one. */
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
