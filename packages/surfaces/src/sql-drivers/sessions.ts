/**
 * Sessions with a server, opened on demand and shared by all users of the data source.
 *
 * I1  A session serves one call at a time, so that ending it affects no other.
 * I2  Every call gets its session in the initial state: a session is reset after use, or ended.
 * I3  Waiting for a session does not count as silence of the server: timers start when one is acquired.
 */
import { limiter } from '@gantry/limiter';
import { refusedTurn } from '../backend-errors.ts';
import { inTime } from '../deadline.ts';
import type { SqlLimits } from '../ports/sql.ts';

export interface ServerOptions {
  readonly url: string;
  readonly limits: SqlLimits;
}

export type Access = 'read only' | 'read write';

/**
 * In addition to the server's own timeouts, for a server that stops answering. Measured: MariaDB answers 6 s
 * late when busy.
 */
export const SILENCE_MS = 10_000;

export interface Session {
  /** Permanent once closed: no call continues on a session that was opened in the middle of it. */
  readonly isOpen: boolean;
  /** Rolls back, and resets everything that outlives a transaction. Rejects if that is not certain. */
  renew(): Promise<void>;
  /** Ends at once, even during a request. */
  end(): void;
}

/** One tenant never uses all sessions or processes of a data source. */
export const TURNS = { max: 4, perTenantMax: 2, waitMs: 15_000, waitingPerTenantMax: 500 };

const IDLE_MS = 60_000;
const RENEW_MS = 2_000;

export class Sessions<S extends Session> {
  readonly #begin: () => S;
  readonly #turns = limiter(TURNS);
  readonly #idle = new Map<S, NodeJS.Timeout>();
  readonly #held = new Set<Promise<void>>();

  constructor(begin: () => S) {
    this.#begin = begin;
  }

  /** Answers when the work is done; the session is reset before the next caller gets it. */
  async use<T>(key: string, work: (session: S) => Promise<T>): Promise<T> {
    const leave = await this.#turns.acquire(key).catch(refusedTurn);
    const session = this.#find() ?? this.#begin();
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const held = done.then(() => this.#giveBack(session));
    this.#held.add(held);
    void held.then(() => {
      this.#held.delete(held);
      leave();
    });
    try {
      return await work(session);
    } finally {
      resolve();
    }
  }

  async close(): Promise<void> {
    this.#turns.close();
    await Promise.all(this.#held);
    for (const session of [...this.#idle.keys()]) this.#retire(session);
  }

  #find(): S | null {
    for (const session of [...this.#idle.keys()].reverse()) {
      clearTimeout(this.#idle.get(session));
      this.#idle.delete(session);
      if (session.isOpen) return session;
    }
    return null;
  }

  async #giveBack(session: S): Promise<void> {
    try {
      if (session.isOpen) await inTime(RENEW_MS, session.renew(), () => new Error('renewing took too long'));
    } catch {
      session.end();
    }
    if (session.isOpen) this.#idle.set(session, setTimeout(() => this.#retire(session), IDLE_MS).unref());
    // A server that is silent on one session is silent on idle ones too, and each would cost a call its whole timeout
    else for (const other of [...this.#idle.keys()]) this.#retire(other);
  }

  #retire(session: S): void {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
    session.end();
  }
}
