/**
 * Processes that run SQLite, as many as there is work for up to a bound.
 *
 * I1  A process has one job at a time, so that ending it harms no other.
 * I2  One key (a tenant) never has all processes.
 * I3  A job ends: by its answer, by its time, or with its process. What is not committed by then never will be.
 */
import { OpenwopError } from '@gantry/protocol';
import { type Ended, SqliteProcess } from './sqlite-child.ts';
import type { SqliteJob } from './sqlite-wire.ts';

const PROCESSES_MAX = 4;
const RUNNING_BY_KEY_MAX = 2;
const WAITING_MAX = 1_000;
const WAIT_MAX_MS = 15_000;

interface Waiting {
  readonly key: string;
  readonly job: SqliteJob;
  readonly timer: NodeJS.Timeout;
  resolve(ended: Ended): void;
}

export class SqlitePool {
  readonly #processes = new Set<SqliteProcess>();
  readonly #running = new Map<string, number>();
  #waiting: Waiting[] = [];
  #isClosed = false;

  /** Rejects with `OpenwopError` when the job was not begun. */
  run(key: string, job: SqliteJob): Promise<Ended> {
    if (this.#isClosed) return Promise.reject(busy('The host is stopping.'));
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(busy('Too many statements wait.'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(busy('Other statements kept this one waiting for too long.'));
      }, WAIT_MAX_MS);
      const waiting = { key, job, timer, resolve };
      this.#waiting.push(waiting);
      this.#pump();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer, resolve } of this.#waiting) {
      clearTimeout(timer);
      resolve({ kind: 'lost', isCommitting: false });
    }
    this.#waiting = [];
    await Promise.all([...this.#processes].map((each) => each.close()));
  }

  #pump(): void {
    for (let index = 0; index < this.#waiting.length; ) {
      const waiting = this.#waiting[index]!;
      const mayRun = (this.#running.get(waiting.key) ?? 0) < RUNNING_BY_KEY_MAX;
      const process = mayRun ? this.#idle() : undefined;
      if (process === null) return;
      if (process === undefined) index++;
      else {
        this.#waiting.splice(index, 1);
        void this.#begin(process, waiting);
      }
    }
  }

  /** Null when all are at work. */
  #idle(): SqliteProcess | null {
    for (const process of this.#processes) if (process.isIdle) return process;
    if (this.#processes.size >= PROCESSES_MAX) return null;
    const process = new SqliteProcess(() => this.#processes.delete(process));
    this.#processes.add(process);
    return process;
  }

  async #begin(process: SqliteProcess, { key, job, timer, resolve }: Waiting): Promise<void> {
    clearTimeout(timer);
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    const ended = await process.run(job);
    const running = this.#running.get(key)! - 1;
    if (running === 0) this.#running.delete(key);
    else this.#running.set(key, running);
    resolve(ended);
    this.#pump();
  }
}

const busy = (reason: string): OpenwopError =>
  new OpenwopError('storage_unavailable', { message: `${reason} Nothing was changed. Try again later.` });
