/**
 * Notices a connection on which a statement gets no answer in time. A connection answers in the order it was asked, so
 * one timer is enough for all statements under way: it runs anew with every answer.
 */
import type { PendingQuery, Row } from 'postgres';

type Send = (query: unknown) => void;

export class Deadline {
  /** For statements that may take as long as they like: `Infinity`. */
  limitMs: number;
  readonly #onPassed: () => void;
  underWay = 0;
  /** Of the last change of `underWay`. */
  #since = performance.now();
  #timer: NodeJS.Timeout | null = null;

  constructor(limitMs: number, onPassed: () => void) {
    this.limitMs = limitMs;
    this.#onPassed = onPassed;
  }

  /** 0 while a statement is under way. */
  get idleMs(): number {
    return this.underWay > 0 ? 0 : performance.now() - this.#since;
  }

  /** Counts from when the driver sends it. What is no statement (a name, a list of values) comes back as it is. */
  watch<T>(query: T): T {
    if (!(query instanceof Promise)) return query;
    // The driver calls this member of a query once, to send it; parts of other statements are never sent
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

  /** Not moved with every statement: when it fires, what is left of the limit is waited for. */
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
