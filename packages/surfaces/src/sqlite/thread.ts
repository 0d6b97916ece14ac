/** A thread that owns a connection. A dead thread is restarted by the next request. */
import type { Worker } from 'node:worker_threads';
import { keepThread, takeThread } from '@gantry/store';
import { unavailable } from '../backend-errors.ts';
import { readAnswer } from '../read-answer.ts';
import type { Answer } from '../refusal.ts';
import { type Asked, CLOSED, OPENED, type Reply, type Request } from './wire.ts';

interface Waiting {
  readonly request: Request | null;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  readonly opened: Promise<unknown>;
  readonly gone: Promise<void>;
}

/** With more waiting requests the disk cannot keep up, and new ones would only wait longer. */
const WAITING_MAX = 10_000;

type State =
  | { readonly kind: 'idle' }
  | ({ readonly kind: 'running' } & Running)
  | { readonly kind: 'closed' };

export class DatabaseThread {
  readonly #entry: URL;
  readonly #data: object;
  #state: State = { kind: 'idle' };
  #lastId = OPENED;
  #outbox: Request[] = [];

  constructor(entry: URL, data: object) {
    this.#entry = entry;
    this.#data = data;
  }

  /** Rejects with the error of opening the database. */
  async open(): Promise<void> {
    await this.#running().opened;
  }

  request(request: Asked): Promise<unknown> {
    if (this.#state.kind === 'closed') return Promise.reject(unavailable('The host is stopping.'));
    const { waiting } = this.#running();
    if (waiting.size >= WAITING_MAX)
      return Promise.reject(unavailable('Too many requests are waiting for the disk.'));
    const numbered = { ...request, id: ++this.#lastId };
    // Requests of one event loop iteration are sent, and committed, together
    if (this.#outbox.length === 0) setImmediate(() => this.#flush());
    this.#outbox.push(numbered);
    return new Promise((resolve, reject) => {
      waiting.set(numbered.id, { request: numbered, resolve, reject });
    });
  }

  /** Waits until pending requests are on disk. */
  async close(): Promise<void> {
    const state = this.#state;
    if (state.kind === 'running') {
      this.#flush();
      state.worker.postMessage(null);
      this.#state = { kind: 'closed' };
      await state.gone;
    }
    this.#state = { kind: 'closed' };
  }

  #flush(): void {
    const requests = this.#outbox;
    this.#outbox = [];
    if (this.#state.kind === 'running' && requests.length > 0) this.#state.worker.postMessage(requests);
  }

  #running(): Running {
    if (this.#state.kind === 'running') return this.#state;
    const running = start(this.#entry, this.#data);
    this.#state = { kind: 'running', ...running };
    void running.gone.then(() => {
      if (this.#state.kind !== 'running' || this.#state.worker !== running.worker) return;
      this.#outbox = [];
      this.#state = { kind: 'idle' };
    });
    return running;
  }
}

const IN_DOUBT = 'Whether the last writes were kept is not known.';

function start(entry: URL, data: object): Running {
  const thread = takeThread(entry);
  const { worker } = thread;
  const waiting = new Map<number, Waiting>();
  const { promise: gone, resolve: onGone } = Promise.withResolvers<void>();
  thread.onMessage = (replies: readonly Reply[]) => {
    for (const [id, answer] of replies) {
      if (id === CLOSED) return onGone(keepThread(entry, thread));
      const asked = waiting.get(id);
      waiting.delete(id);
      if (asked) settle(asked, answer);
    }
  };
  let cause: unknown;
  thread.onEnd = (error) => {
    if (error !== null) {
      cause = error;
      return;
    }
    for (const { request, reject } of waiting.values()) {
      const error = unavailable('The thread of the database ended.', request?.invocation ? IN_DOUBT : '');
      error.cause = cause;
      reject(error);
    }
    waiting.clear();
    onGone();
  };
  worker.postMessage(data);
  const opened = new Promise((resolve, reject) => {
    waiting.set(OPENED, { request: null, resolve, reject });
  });
  opened.catch(() => {});
  return { worker, waiting, opened, gone };
}

function settle({ request, resolve, reject }: Waiting, answer: Answer): void {
  try {
    resolve(readAnswer(request, answer));
  } catch (error) {
    reject(error instanceof Error ? error : new Error(String(error)));
  }
}
