/** An embedded database as the main thread sees it: typed reads and writes by area. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { getLoadablePath } from 'sqlite-vec';
import type { PortWrite } from '../surface-call.ts';
import type { Area } from './area.ts';
import type { DatabaseFiles, OpenFile } from './database-files.ts';
import { databasePath } from './open-file.ts';
import { DatabaseThread } from './thread.ts';

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
}

export interface EmbeddedDatabase extends DatabaseOf<DatabaseFiles['surfaces']>, OpensLate {}

export interface RetrievalDatabase extends DatabaseOf<DatabaseFiles['retrieval']>, OpensLate {
  /** False where sqlite-vec has no build for the platform: then there is full text alone. */
  readonly hasVectors: boolean;
}

interface Threads {
  readonly writer: DatabaseThread;
  readerOf(area: string): DatabaseThread;
  /** Every request waits for it. */
  ready(): Promise<void> | undefined;
  close(): Promise<void>;
}

const threadOf = (entry: 'writer' | 'reader', file: OpenFile): DatabaseThread =>
  new DatabaseThread(new URL(`./${entry}.ts`, import.meta.url), file);

/** Threads start with the first request: a host whose packs store nothing does not pay for them. */
class FirstUse {
  readonly #open: () => Promise<unknown>;
  #opening: Promise<void> | undefined;
  #isOpen = false;

  constructor(open: () => Promise<unknown>) {
    this.#open = open;
  }

  /** Undefined when there is nothing to wait for. */
  readonly ready = (): Promise<void> | undefined => {
    if (this.#isOpen) return undefined;
    this.#opening ??= this.#open().then(
      () => {
        this.#isOpen = true;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  };

  readonly isInUse = (): boolean => this.#opening !== undefined;

  /** What was asked before is on its way when this resolves. Closed threads refuse by themselves. */
  async end(): Promise<void> {
    await this.#opening?.catch(() => {});
    this.#isOpen = true;
  }
}

/** `surfaces.db` of a data folder. One that is there is opened, and migrated, at once. */
export async function openEmbeddedDatabase(options: { readonly dataDir: string }): Promise<EmbeddedDatabase> {
  const dataDir = resolve(options.dataDir);
  const file = { file: 'surfaces', dataDir, extensions: [] } as const;
  const [writer, reader] = [threadOf('writer', file), threadOf('reader', file)];
  const use = new FirstUse(async () => {
    await writer.open();
    await reader.open();
  });
  const close = async (): Promise<void> => {
    await use.end();
    await reader.close();
    await writer.close();
  };
  try {
    if (existsSync(databasePath(dataDir))) await use.ready();
  } catch (error) {
    await close();
    throw error;
  }
  const database = databaseOver<'surfaces'>({ writer, readerOf: () => reader, ready: use.ready, close });
  return { ...database, isInUse: use.isInUse };
}

/**
 * `retrieval.db` of a data folder. It is made, and its threads start, when it is first used: hosts without vectors
 * and full text do not pay for them. Areas have a reader each, so that a search by words never waits for vectors.
 */
export function openRetrievalDatabase(options: { readonly dataDir: string }): RetrievalDatabase {
  const dataDir = resolve(options.dataDir);
  const extensions = vectorExtension();
  const file = { file: 'retrieval', dataDir, extensions } as const;
  const writer = threadOf('writer', file);
  const readers = new Map<string, DatabaseThread>();
  const use = new FirstUse(() => writer.open());
  let closed = false;
  const readerOf = (area: string): DatabaseThread => {
    // A writer that is closed refuses for all
    const reader = readers.get(area) ?? (closed ? writer : threadOf('reader', file));
    readers.set(area, reader);
    return reader;
  };
  const close = async (): Promise<void> => {
    closed = true;
    await use.end();
    await Promise.all(readers.values().map((reader) => reader.close()));
    await writer.close();
  };
  const database = databaseOver<'retrieval'>({ writer, readerOf, ready: use.ready, close });
  return { ...database, isInUse: use.isInUse, hasVectors: extensions.length > 0 };
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
}: Threads): DatabaseOf<DatabaseFiles[F]> {
  const ask = async (
    thread: () => DatabaseThread,
    area: string,
    name: string,
    args: readonly unknown[],
    call?: PortWrite,
  ): Promise<never> => {
    const waiting = ready();
    if (waiting) await waiting;
    const invocation = call ? { call: call.invocation, now: call.now } : null;
    return thread().request({ area, name, args, invocation }) as Promise<never>;
  };
  return {
    read: (area, name, ...args) => ask(() => readerOf(area), area, name, args),
    write: (area, name, call, ...args) => ask(() => writer, area, name, args, call),
    upkeep: (area, name, ...args) => ask(() => writer, area, name, args),
    close,
  };
}
