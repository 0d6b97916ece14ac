/**
 * Processes that run SQLite, as many as there is work for.
 *
 * I1  A process has one job at a time, so that ending it harms no other.
 * I2  One key (a tenant) never has all turns.
 * I3  A job ends: by its answer, by its time, or with its process. What is not committed by then never will be.
 */
import { type Ended, SqliteProcess } from './sqlite-child.ts';
import type { SqliteJob } from './sqlite-wire.ts';
import { stopping, Turns } from './turns.ts';

export class SqlitePool {
  readonly #processes = new Set<SqliteProcess>();
  readonly #turns = new Turns();
  #isClosed = false;

  /** Rejects with `OpenwopError` when the job was not begun. */
  async run(key: string, job: SqliteJob): Promise<Ended> {
    const leave = await this.#turns.take(key);
    try {
      if (this.#isClosed) throw stopping();
      return await this.#idle().run(job);
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#turns.close();
    await Promise.all([...this.#processes].map((each) => each.close()));
  }

  /** A new one when all are at work or about to end: who has a turn does not wait for their end. */
  #idle(): SqliteProcess {
    for (const process of this.#processes) if (process.isIdle) return process;
    const process = new SqliteProcess(() => this.#processes.delete(process));
    this.#processes.add(process);
    return process;
  }
}
