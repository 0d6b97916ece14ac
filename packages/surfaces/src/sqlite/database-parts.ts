/** What databases on the main thread are put together from: threads, processes, and typed requests to them. */

import type { PortWrite } from '../calls/surface-call.ts';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import type { OpenFile } from './database-files.ts';
import { type ScannedArea, Scans } from './scans.ts';
import type { Area } from './statements.ts';
import { DatabaseThread } from './thread.ts';
import { type Asked, CHECKPOINT } from './wire.ts';

export type AreaSet = Readonly<Record<string, Area>>;
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

/** A thread, or processes for reads that may take long. */
export type Ask = (request: Asked) => Promise<unknown>;

export interface Connections {
  readerOf(area: string, name: string): Ask;
  writerOf(area: string): Ask;
  /** Every request waits for it. */
  ready(area: string): Promise<void>;
  close(): Promise<void>;
}

export const threadOf = (entry: 'writer' | 'reader', file: OpenFile): DatabaseThread =>
  new DatabaseThread(new URL(`./${entry}.ts`, import.meta.url), file);

export interface ScansOfOptions {
  readonly area: ScannedArea;
  readonly file: OpenFile;
  readonly writer: DatabaseThread;
  readonly scanMsMax: number;
}

export const scansOf = ({ area, file, writer, scanMsMax }: ScansOfOptions): Scans =>
  new Scans({
    area,
    file,
    scanMsMax,
    checkpoint: (tenant) => writer.request({ ...CHECKPOINT, args: [tenant], invocation: null }),
  });

/** Every read names its tenant first, by itself or in the place of what it reads. */
function tenantOf([first]: readonly unknown[]): string {
  if (typeof first === 'string') return first;
  const isPlace = typeof first === 'object' && first !== null && 'tenant' in first;
  return isPlace ? String(first.tenant) : '';
}

export const scanning =
  (scans: Scans): Ask =>
  (request) =>
    scans.request(tenantOf(request.args), request);

/** Threads start with the first request: a host whose packs store nothing does not pay for them. */
export function firstUse(open: () => Promise<void>) {
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

export function databaseOver<S extends AreaSet>(connections: Connections): DatabaseOf<S> {
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
    write: (area, name, call, ...args) => ask(writerOf(area), area, name, args, call),
    upkeep: (area, name, ...args) => ask(writerOf(area), area, name, args),
    close,
  };
}
