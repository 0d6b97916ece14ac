/**
 * Transactions whose outcome can be looked up. Each puts a mark of its own, which is there when it has committed.
 *
 * I1  A lookup of a mark waits for a transaction that is still open with it: its insert meets the same key.
 * I2  A mark that is not there is put as `fenced`, so a transaction that was found missing can never commit after that.
 *     Asking again, when the answer to this was lost too, finds the same.
 *
 * A status of the transaction id would need no row, but after a standby was promoted the same id may be another
 * transaction. What was written does not show it either: another process may have changed or deleted it since.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnknownOutcomeError } from '@gantry/postgres';
import { type Sql, type Tx, transact } from './sql.ts';

const LOOK_AGAIN_MS_MIN = 20;
const LOOK_AGAIN_MS_MAX = 1_000;

export interface CommitMarksOptions {
  readonly sql: Sql;
  /** After this long the commit fails with outcome `unknown`. */
  readonly outcomeTimeoutMs: number;
  /** The outcome of a commit that failed as `unknown` is known by now. */
  readonly onSettledLate: () => void;
}

export class CommitMarks {
  readonly #options: CommitMarksOptions;
  /** Their outcome is known: the next transaction deletes them. */
  #answered: string[] = [];
  #isClosed = false;

  constructor(options: CommitMarksOptions) {
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Like `transact`, and done again when its answer was lost and it was not committed. */
  async transact<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { sql, outcomeTimeoutMs } = this.#options;
    const until = performance.now() + outcomeTimeoutMs;
    for (;;) {
      const mark = randomUUID();
      const answered = this.#answered.splice(0);
      let answer: T | undefined;
      try {
        answer = await transact(sql, async (tx) => {
          answer = await withMark(tx, { mark, answered }, work);
          return answer;
        });
        this.#answered.push(mark);
        return answer;
      } catch (error) {
        if (!(error instanceof UnknownOutcomeError)) throw error;
        if (await this.#isCommitted(mark, until)) return answer as T;
        if (performance.now() > until) throw error.cause;
      }
    }
  }

  async #isCommitted(mark: string, until: number): Promise<boolean> {
    for (let waitMs = LOOK_AGAIN_MS_MIN; ; waitMs = Math.min(waitMs * 2, LOOK_AGAIN_MS_MAX)) {
      try {
        return await isCommitted(this.#options.sql, mark);
      } catch (error) {
        if (this.#isClosed || performance.now() > until) {
          void this.#settleLate(mark);
          throw new UnknownOutcomeError(error);
        }
      }
      await sleep(waitMs * (0.5 + Math.random() / 2));
    }
  }

  /** However long the database is away: others must look at what came of it. */
  async #settleLate(mark: string): Promise<void> {
    while (!this.#isClosed) {
      await sleep(LOOK_AGAIN_MS_MAX, undefined, { ref: false });
      try {
        await isCommitted(this.#options.sql, mark);
        return this.#options.onSettledLate();
      } catch {
        // Still away
      }
    }
  }
}

/** The mark travels with what `work` sends first; when it fails, what follows it fails because of it. */
async function withMark<T>(
  tx: Tx,
  { mark, answered }: { readonly mark: string; readonly answered: readonly string[] },
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const marked = tx`
    with forgotten as (delete from commit_marks where mark = any(${[...answered]}))
    insert into commit_marks (mark, fenced) values (${mark}, false)
  `.execute();
  const [answer] = await Promise.all([work(tx), marked]);
  return answer;
}

/** I1, I2. */
async function isCommitted(sql: Sql, mark: string): Promise<boolean> {
  const [found] = await sql<[{ fenced: boolean }]>`
    insert into commit_marks (mark, fenced) values (${mark}, true)
    on conflict (mark) do update set fenced = commit_marks.fenced
    returning fenced
  `;
  return !found.fenced;
}

/** Those of processes that ended before they could. */
export async function forgetMarks(tx: Tx): Promise<void> {
  await tx`delete from commit_marks where created_at < now() - interval '1 hour'`;
}
