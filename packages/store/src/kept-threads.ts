/**
 * A pool of idle worker threads that have closed their database: starting a thread takes 50 ms of CPU time. Idle
 * threads do not keep the process alive.
 */
import { Worker } from 'node:worker_threads';

const KEPT_MAX = 2;

/** A worker thread, with the listeners of its current user. */
export interface Thread {
  readonly worker: Worker;
  onMessage(message: never): void;
  /** `error` is the error that ended the thread; null after a normal exit. */
  onEnd(error: unknown): void;
}

const kept = new Map<string, Thread[]>();

function keptOf({ href }: URL): Thread[] {
  const threads = kept.get(href) ?? [];
  kept.set(href, threads);
  return threads;
}

/** Takes a thread from the pool, or starts one. */
export function takeThread(entry: URL): Thread {
  const present = keptOf(entry).pop();
  present?.worker.ref();
  return present ?? startThread(entry);
}

function startThread(entry: URL): Thread {
  const thread: Thread = { worker: new Worker(entry), onMessage() {}, onEnd() {} };
  thread.worker.on('message', (message) => thread.onMessage(message as never));
  thread.worker.on('error', (error) => thread.onEnd(error));
  thread.worker.on('exit', () => thread.onEnd(null));
  return thread;
}

/** Starts a thread in the background for the next caller. */
export function warmThread(entry: URL): void {
  if (keptOf(entry).length === 0) void keepThread(entry, startThread(entry));
}

/** Returns a thread to the pool. It must have nothing open. */
export async function keepThread(entry: URL, thread: Thread): Promise<void> {
  const threads = keptOf(entry);
  thread.onMessage = () => {};
  thread.onEnd = () => {};
  if (threads.length === KEPT_MAX) return void (await thread.worker.terminate());
  thread.worker.unref();
  thread.onEnd = () => threads.splice(0, threads.length, ...threads.filter((each) => each !== thread));
  threads.push(thread);
}
