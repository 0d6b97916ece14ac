import type { Driver } from '@gantry/postgres';

/** A column of a statement. */
export const databaseMs = (sql: Driver) =>
  sql`(extract(epoch from clock_timestamp()) * 1000)::bigint as "databaseMs"`;

/**
 * The time that all processes of a database agree on: the database's, as last asked, and what this process's
 * monotonic clock has counted since. A wall clock that is wrong or jumps changes nothing.
 */
export class DatabaseClock {
  /** Database time minus monotonic time. */
  #offsetMs = Number.NaN;

  readonly now = (): number => Math.floor(performance.now() + this.#offsetMs);

  /** `ask` answers something with the database's time at a moment between sending and answer. */
  async sync<T extends { readonly databaseMs: number }>(ask: () => Promise<T>): Promise<T> {
    const sentMs = performance.now();
    const answer = await ask();
    const answeredMs = performance.now();
    const earliest = answer.databaseMs - answeredMs;
    const latest = answer.databaseMs - sentMs;
    // Within what the way of the answer leaves open nothing is moved, so that time does not go back for nothing
    const isStill = this.#offsetMs >= earliest && this.#offsetMs <= latest;
    if (!isStill) this.#offsetMs = (earliest + latest) / 2;
    return answer;
  }
}
