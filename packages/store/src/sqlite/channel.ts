/** Calls from the main thread to a worker thread that owns a database connection. */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { keepThread, takeThread } from '../kept-threads.ts';

type Operation = (...args: never[]) => unknown;
/** The operations of a thread: `runs.row` is the operation `row` of the part `runs`. */
type Parts = Readonly<Record<string, object>>;

/** A part of the port as its thread implements it. */
export type Sync<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Awaited<Answer>
    : never;
};

/** The parts of a thread as other threads call them. */
type Called<P extends Parts> = {
  readonly [Part in keyof P]: {
    readonly [Name in keyof P[Part]]: P[Part][Name] extends (...args: infer Args) => infer Answer
      ? (...args: Args) => Promise<Answer>
      : never;
  };
};

type WireError =
  | { readonly code: StoreErrorCode; readonly happened: string }
  | { readonly code: null; readonly stack: string };
type Request = readonly [id: number, name: string, args: readonly never[]];
type Reply = readonly [id: number, value: unknown, error?: WireError];

/** The result of one of several calls that are executed at once: it failed alone. */
export class Failed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * Maps an operation to another one that executes several queued calls at once. That one gets the first argument of
 * each call and returns one result, or `Failed`, for each. If it throws, all of them fail.
 */
type Together = Readonly<Record<string, string>>;

/** How to open the database, and how to convert an error to a StoreError if possible. */
interface Service {
  open(dataDir: string): { readonly parts: Parts; close(): void };
  explain(error: unknown, dataDir: string): unknown;
  readonly together?: Together;
}

/** Worker side: executes calls in order. `open` comes first. After `close`, another folder may be opened. */
export function serve({ open, explain, together = {} }: Service): void {
  const port = parentPort;
  if (!port) throw new Error('serve() runs in a worker thread');
  const answer = (id: number, work: () => unknown): void => {
    try {
      port.postMessage([id, work()] satisfies Reply);
    } catch (error) {
      port.postMessage([id, undefined, toWire(explain(error, opened))] satisfies Reply);
    }
  };
  let opened = '';
  let operations = new Map<string, Operation>();
  /** Returns the names of the operations. */
  const opening = (dataDir: string): string[] => {
    opened = dataDir;
    const { parts, close } = open(dataDir);
    operations = new Map([['close', close], ...named(parts)]);
    return [...operations.keys()];
  };
  port.on('message', (first: Request) => {
    const waiting = [first, ...queued(port)];
    while (waiting.length > 0) {
      const [id, name, args] = waiting.shift()!;
      const more = together[name] ? takeWhile(waiting, name) : [];
      if (more.length > 0) answerTogether(together[name]!, [[id, name, args], ...more]);
      else if (name === 'open') answer(id, () => opening(String(args[0])));
      else answer(id, () => operations.get(name)?.(...args));
    }
  });

  function answerTogether(name: string, calls: readonly Request[]): void {
    try {
      const together = calls.map(([, , [argument]]) => argument);
      const values = operations.get(name)?.(together as never) as unknown[];
      for (const [i, [id]] of calls.entries()) answer(id, () => resultOf(values[i]));
    } catch (error) {
      for (const [id] of calls) answer(id, () => resultOf(new Failed(error)));
    }
  }
}

function resultOf(value: unknown): unknown {
  if (value instanceof Failed) throw value.error;
  return value;
}

const named = (parts: Parts): [string, Operation][] =>
  Object.entries(parts).flatMap(([part, operations]) =>
    Object.entries(operations).map(([name, operation]): [string, Operation] => [
      `${part}.${name}`,
      operation,
    ]),
  );

/** The calls that have already arrived: several can while the disk was busy. */
function queued(port: MessagePort): Request[] {
  const requests: Request[] = [];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    requests.push(next.message);
  }
  return requests;
}

function takeWhile(requests: Request[], name: string): Request[] {
  const end = requests.findIndex((request) => request[1] !== name);
  return requests.splice(0, end === -1 ? requests.length : end);
}

function toWire(error: unknown): WireError {
  if (error instanceof StoreError) return { code: error.code, happened: error.happened };
  return { code: null, stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

const fromWire = (error: WireError): Error =>
  error.code === null ? new Error(error.stack) : new StoreError(error.code, error.happened);

export interface Channel<P extends Parts> {
  readonly parts: Called<P>;
  close(): Promise<void>;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Main side: starts or reuses a thread. Rejects with the error of its `open`. */
export async function connect<P extends Parts>(entry: URL, dataDir: string): Promise<Channel<P>> {
  const thread = takeThread(entry);
  const { worker } = thread;
  const pending = new Map<number, Pending>();
  let lost: Error | null = null;
  let lastId = 0;

  const lose = (error: Error): void => {
    lost ??= error;
    for (const call of pending.values()) call.reject(lost);
    pending.clear();
  };
  thread.onMessage = ([id, value, error]: Reply) => {
    const call = pending.get(id);
    pending.delete(id);
    if (error) call?.reject(fromWire(error));
    else call?.resolve(value);
  };
  thread.onEnd = (cause) =>
    lose(
      cause === null
        ? new StoreError('io', 'The store is closed.')
        : new StoreError('io', 'The database thread died.', { cause }),
    );

  const request = (name: string, args: readonly unknown[]): Promise<unknown> => {
    if (lost) return Promise.reject(lost);
    const id = ++lastId;
    worker.postMessage([id, name, args]);
    return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  };

  const parts: Record<string, Record<string, unknown>> = {};
  try {
    for (const name of (await request('open', [dataDir])) as string[]) {
      const [part = '', operation = ''] = name.split('.');
      parts[part] = { ...parts[part], [operation]: (...args: unknown[]) => request(name, args) };
    }
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  let closed: Promise<void> | undefined;
  const closing = async (): Promise<void> => {
    const answer = request('close', []);
    lost = new StoreError('io', 'The store is closed.');
    await answer.then(
      () => keepThread(entry, thread),
      () => worker.terminate(),
    );
  };
  return {
    parts: parts as Called<P>,
    async close() {
      closed ??= lost ? Promise.resolve() : closing();
      await closed;
    },
  };
}
