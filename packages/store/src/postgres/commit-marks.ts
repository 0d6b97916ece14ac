/**
 * Transactions whose outcome can be looked up. Each inserts a unique mark, which exists once it has committed.
 *
 * I1  A lookup of a mark waits for an open transaction that has inserted it, since it inserts the same key.
 * I2  A lookup inserts a missing mark as `fenced`, so a transaction that was found missing can never commit later.
 *     If the answer of the lookup is lost too, another lookup has the same result.
 *
 * The status of a transaction id would need no row, but after the promotion of a standby the same id may be another
 * transaction. The written rows do not prove it either: another process may have changed or deleted them since.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnknownOutcomeError } from '@gantry/postgres';
import { type Sql, type Tx, transact } from './sql.ts';

const LOOK_AGAIN_MS_MIN = 20;
const LOOK_AGAIN_MS_MAX = 1_000;

export interface CommitMarksOptions {
  readonly sql: Sql;
  /** After this time the commit fails with outcome `unknown`. */
  readonly outcomeTimeoutMs: number;
  /** Called when the outcome of a commit that failed as `unknown` has been found. */
  readonly onSettledLate: () => void;
}

export class CommitMarks {
  readonly #options: CommitMarksOptions;
  /** Marks with a known outcome. The next transaction deletes them. */
  #answered: string[] = [];
  #isClosed = false;

  constructor(options: CommitMarksOptions) {
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Like `transact`, but repeats a transaction whose answer was lost and that did not commit. */
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

  /** Retries until the database is reachable, then notifies watchers of the commit. */
  async #settleLate(mark: string): Promise<void> {
    while (!this.#isClosed) {
      await sleep(LOOK_AGAIN_MS_MAX, undefined, { ref: false });
      try {
        await isCommitted(this.#options.sql, mark);
        return this.#options.onSettledLate();
      } catch {
        // Still unreachable
      }
    }
  }
}

/** The mark is sent together with the first statement of `work`. If the mark fails, later statements fail with it. */
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

/** Deletes marks of processes that ended before they could do so. */
export async function forgetMarks(tx: Tx): Promise<void> {
  await tx`delete from commit_marks where created_at < now() - interval '1 hour'`;
}
