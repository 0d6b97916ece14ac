/** The host's side of one process that runs SQLite. */
import type { Answer } from '../database-answer.ts';
import { COMMIT_MS, JobProcess, START_MS } from '../job-process/job-process.ts';
import { MEMORY_SIGNAL } from '../job-process/lifeline.ts';
import type { SqliteJob, SqliteReply } from './sqlite-wire.ts';

const ENTRY = new URL('./sqlite-process.ts', import.meta.url);

export type Ended =
  | Answer
  | { readonly kind: 'late' }
  /** It took too much memory. */
  | { readonly kind: 'large' }
  /** The process ended; whether it was committing decides what is known. */
  | { readonly kind: 'lost'; readonly isCommitting: boolean };

export class SqliteProcess {
  readonly #process: JobProcess<SqliteReply, Answer>;
  #isNew = true;
  #isCommitting = false;

  constructor(onGone: () => void) {
    this.#process = new JobProcess({ entry: ENTRY, hear: (reply) => this.#hear(reply), onGone });
    this.#process.hold(false);
  }

  get isIdle(): boolean {
    return this.#process.state === 'idle';
  }

  async run(job: SqliteJob): Promise<Ended> {
    const allowedMs = job.limits.timeoutMs + (this.#isNew ? START_MS : 0);
    this.#isNew = false;
    this.#isCommitting = false;
    this.#process.endAfter(allowedMs);
    // Only a job under way keeps the host from ending
    this.#process.hold(true);
    const ended = await this.#process.run(job);
    this.#process.hold(false);
    if (ended.kind !== 'late' && ended.kind !== 'lost') return ended;
    if (this.#isCommitting) return { kind: 'lost', isCommitting: true };
    if (ended.kind === 'late') return ended;
    return ended.signal === MEMORY_SIGNAL ? { kind: 'large' } : { kind: 'lost', isCommitting: false };
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  #hear(reply: SqliteReply): void {
    if (reply.kind !== 'committing') {
      this.#process.answer(reply);
      return;
    }
    this.#isCommitting = true;
    this.#process.endAfter(COMMIT_MS);
  }
}
