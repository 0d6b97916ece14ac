import type { Driver } from '@gantry/postgres';

/** The database time as a column of a statement. */
export const databaseMs = (sql: Driver) =>
  sql`(extract(epoch from clock_timestamp()) * 1000)::bigint as "databaseMs"`;

/**
 * The clock that all processes of a database share: the last known database time, plus the monotonic time of this
 * process since then. Wrong or changing wall clocks have no effect.
 */
export class DatabaseClock {
  /** Database time minus monotonic time. */
  #offsetMs = Number.NaN;

  readonly now = (): number => Math.floor(performance.now() + this.#offsetMs);

  /** `ask` returns the database time of some moment between request and answer. */
  async sync<T extends { readonly databaseMs: number }>(ask: () => Promise<T>): Promise<T> {
    const sentMs = performance.now();
    const answer = await ask();
    const answeredMs = performance.now();
    const earliest = answer.databaseMs - answeredMs;
    const latest = answer.databaseMs - sentMs;
    // Keep the offset while it is within the uncertainty of the answer, so that time does not needlessly go back
    const isStill = this.#offsetMs >= earliest && this.#offsetMs <= latest;
    if (!isStill) this.#offsetMs = (earliest + latest) / 2;
    return answer;
  }
}
