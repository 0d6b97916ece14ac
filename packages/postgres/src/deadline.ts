/**
 * Detects a connection on which a statement gets no answer in time. A connection answers statements in order, so
 * one timer is enough for all running statements. Every answer restarts the time.
 */
import type { PendingQuery, Row } from 'postgres';

type Send = (query: unknown) => void;

export class Deadline {
  /** `Infinity` for statements without a limit. */
  limitMs: number;
  readonly #onPassed: () => void;
  underWay = 0;
  /** The time of the last change of `underWay`. */
  #since = performance.now();
  #timer: NodeJS.Timeout | null = null;

  constructor(limitMs: number, onPassed: () => void) {
    this.limitMs = limitMs;
    this.#onPassed = onPassed;
  }

  /** 0 while a statement is running. */
  get idleMs(): number {
    return this.underWay > 0 ? 0 : performance.now() - this.#since;
  }

  /** The time starts when the driver sends the query. Other values (a name, a list) are returned unchanged. */
  watch<T>(query: T): T {
    if (!(query instanceof Promise)) return query;
    // The driver calls this member of a query once, to send it. Fragments of other statements are never sent
    const sendable: object = query;
    const send: Send = Reflect.get(sendable, 'handler');
    Reflect.set(query, 'handler', (sent: PendingQuery<Row[]>) => {
      this.#begin();
      const end = (): void => this.#end();
      Promise.prototype.then.call(query, end, end);
      send(sent);
    });
    return query;
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #begin(): void {
    if (this.underWay++ === 0) this.#since = performance.now();
    if (this.#timer === null) this.#arm(this.limitMs);
  }

  #end(): void {
    this.underWay--;
    this.#since = performance.now();
  }

  /** The timer is not restarted for each statement: when it fires, it waits for the rest of the limit. */
  #arm(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.underWay === 0) return;
      const leftMs = this.limitMs - (performance.now() - this.#since);
      if (leftMs > 0) this.#arm(leftMs);
      else this.#onPassed();
    }, ms);
  }
}
