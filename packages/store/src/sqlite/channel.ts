/** Calls from the main thread to a worker thread that owns a database connection. */
import { type MessagePort, parentPort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { StoreError, type StoreErrorCode } from '../error.ts';

type Operations = Record<string, (...args: never[]) => unknown>;
type WireError =
  | { readonly code: StoreErrorCode; readonly happened: string }
  | { readonly code: null; readonly stack: string };
type Request = readonly [id: number, name: string, args: readonly never[]];
type Reply = readonly [id: number, value: unknown, error?: WireError];

/**
 * Which operation carries out several waiting calls of another at once: it takes the first argument of each and
 * answers one value for each.
 */
type Together = Readonly<Record<string, string>>;

const OPENED = 0;

/**
 * Worker side: opens, reports how that went, then answers calls in their order until `close` was called.
 * `explain` turns what was thrown into a StoreError where it can.
 */
export function serve(
  open: () => Operations,
  explain: (error: unknown) => unknown,
  together: Together = {},
): void {
  const port = parentPort;
  if (!port) throw new Error('serve() runs in a worker thread');
  const answer = (id: number, work: () => unknown): void => {
    try {
      port.postMessage([id, work()] satisfies Reply);
    } catch (error) {
      port.postMessage([id, undefined, toWire(explain(error))] satisfies Reply);
    }
  };
  let operations: Operations = {};
  answer(OPENED, () => {
    operations = open();
  });
  port.on('message', (first: Request) => {
    const waiting = [first, ...queued(port)];
    while (waiting.length > 0) {
      const [id, name, args] = waiting.shift()!;
      const more = together[name] ? takeWhile(waiting, name) : [];
      if (more.length > 0) answerTogether(together[name]!, [[id, name, args], ...more]);
      else answer(id, () => operations[name]?.(...args));
      if (name === 'close') port.close();
    }
  });

  /** Several calls, one piece of work: they succeed or fail as one. */
  function answerTogether(name: string, calls: readonly Request[]): void {
    try {
      const values = operations[name]?.(calls.map(([, , [argument]]) => argument) as never) as unknown[];
      for (const [i, [id]] of calls.entries()) port?.postMessage([id, values[i]] satisfies Reply);
    } catch (error) {
      const wire = toWire(explain(error));
      for (const [id] of calls) port?.postMessage([id, undefined, wire] satisfies Reply);
    }
  }
}

/** What has arrived already: while the disk was busy, more than one call may have. */
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

export interface Channel<T extends Operations> {
  call<K extends keyof T & string>(name: K, ...args: Parameters<T[K]>): Promise<ReturnType<T[K]>>;
  close(): Promise<void>;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Main side: starts the worker; rejects with what its `open` threw. */
export async function connect<T extends Operations>(entry: URL, workerData: unknown): Promise<Channel<T>> {
  const worker = new Worker(entry, { workerData });
  const pending = new Map<number, Pending>();
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let lost: Error | null = null;
  let lastId = OPENED;

  const lose = (error: Error): void => {
    lost ??= error;
    for (const call of pending.values()) call.reject(lost);
    pending.clear();
  };
  worker.on('message', ([id, value, error]: Reply) => {
    const call = pending.get(id);
    pending.delete(id);
    if (error) call?.reject(fromWire(error));
    else call?.resolve(value);
  });
  worker.on('error', (cause) => lose(new StoreError('io', 'The database thread died.', { cause })));
  worker.on('exit', () => lose(new StoreError('io', 'The store is closed.')));

  const expect = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  const request = (name: string, args: readonly unknown[]): Promise<unknown> => {
    if (lost) return Promise.reject(lost);
    const id = ++lastId;
    worker.postMessage([id, name, args]);
    return expect(id);
  };

  try {
    await expect(OPENED);
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  return {
    call: (name, ...args) => request(name, args) as Promise<never>,
    async close() {
      if (!lost) void request('close', []).catch(() => {});
      lost ??= new StoreError('io', 'The store is closed.');
      await gone;
    },
  };
}
