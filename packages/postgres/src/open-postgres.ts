/**
 * A pool of connections to PostgreSQL that survives server restarts.
 *
 * The driver has its own pools, but if a server dies during transactions they continue with lost connections: a late
 * write to a missing socket ends the process, and a new connection may never send (porsager/postgres#1208, #1154).
 * So every connection here is a separate instance of the driver, which is discarded when the connection is lost.
 *
 * I1  Nothing is sent on a lost connection; the next statement gets a new one.
 * I2  A transaction has its own connection. Statements outside transactions share a few connections, in order.
 *
 * @example
 * const sql = openPostgres({ url, connectionsMax: 10, connectTimeoutS: 5, connection: { application_name: 'mine' } });
 * await sql.begin(async (tx) => { await tx`insert ...`; });
 */
import { limiter } from '@gantry/limiter';
import postgres from 'postgres';
import { Session } from './session.ts';
import { optionsOf, type SessionSettings } from './session-settings.ts';
import { Standing, type StandingOptions } from './standing.ts';
import { readServer } from './url.ts';

/** bigint columns hold milliseconds, counts, sequences and epochs: all are safe integers. */
export type Types = { bigint: number; texts: unknown; integers: unknown };
export type Driver = postgres.Sql<Types>;
export interface Sql extends Driver {
  /**
   * A transaction with two fewer round trips: BEGIN is sent with the first statements of `work`, COMMIT with its
   * last. So the first statements may only read and lock. A thrown error rolls everything back.
   */
  exchange<T>(work: (tx: Tx) => Promise<Ending<T>>): Promise<T>;
  /** A transaction whose statements have no deadline, for migrations and sweeps. */
  unhurried<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Completes or fails within seconds, independent of other statements. `send` has its own connection, and is
   * called once more on a new one if that is lost or does not answer. So it must be safe to repeat.
   */
  promptly<T>(send: (sql: Driver) => Promise<T>): Promise<T>;
  /** Connections that were idle for this long must answer a query; those that do not are discarded. */
  probe(options: { readonly idleMs: number; readonly timeoutMs: number }): Promise<void>;
  /** Lasts until its `end`, or that of the pool. */
  stand(options: StandingOptions): Standing;
}
/** Inside a transaction. */
export type Tx = postgres.ISql<Types>;

/** A statement that is not sent yet. */
export type Statement = Pick<postgres.PendingQuery<postgres.Row[]>, 'execute'>;

export interface Ending<T> {
  readonly last: readonly Statement[];
  readonly answer: T;
}

export interface PostgresSettings extends Omit<SessionSettings, 'server'> {
  readonly url: string;
  /** For transactions. Statements outside transactions use a few more. */
  readonly connectionsMax: number;
}

/** Statements are pipelined on a connection, so few are enough. The least busy one gets the next statement. */
const SHARED = 4;
/** How long one attempt of `promptly` waits for its connection, and then for its answer. */
const PROMPT = { connectTimeoutS: 3, statementTimeoutMs: 1_000 };

type ProbeOptions = Parameters<Sql['probe']>[0];
type Work = (tx: Tx) => Promise<unknown>;

/**
 * Has the interface of the driver, but handles transactions, statements and the end itself. Connects on first use.
 * Throws if the URL is not valid (`readServer`).
 */
export function openPostgres({ url, connectionsMax, ...rest }: PostgresSettings): Sql {
  const settings = { ...rest, server: readServer(url) };
  const pool = new Pool(settings, connectionsMax);
  // This instance sends nothing: it creates names, lists and typed values
  const driver = postgres({ ...optionsOf(settings), max: 1 });
  const own: Readonly<Record<PropertyKey, unknown>> = {
    begin: (...args: [Work] | [string, Work]) =>
      args.length === 1 ? pool.begin('', args[0]) : pool.begin(args[0], args[1]),
    exchange: (work: (tx: Tx) => Promise<Ending<unknown>>) => pool.exchange(work),
    unhurried: (work: Work) => pool.unhurried(work),
    promptly: (send: (sql: Driver) => Promise<unknown>) => pool.promptly(send),
    probe: (options: ProbeOptions) => pool.probe(options),
    stand: (options: StandingOptions) => pool.stand(options),
    async listen(channel: string, onNotice: (payload: string) => void, onReady: () => void) {
      const statements = (): string[] => [`listen "${channel}"`];
      await pool.stand({ statements, onNotice, onReady }).ready;
    },
    end: ({ timeout = 0 }: { timeout?: number } = {}) => pool.end(timeout),
  };
  return new Proxy(driver as Sql, {
    apply: (_driver, self, args) => Reflect.apply(pool.shared(), self, args),
    get(_driver, name) {
      if (name === 'unsafe') return pool.shared().unsafe;
      return Object.hasOwn(own, name) ? own[name] : Reflect.get(driver, name);
    },
  });
}

class Pool {
  readonly #settings: SessionSettings;
  readonly #transactions;
  readonly #shared: Session[] = [];
  readonly #idle: Session[] = [];
  readonly #held = new Set<Session>();
  readonly #standing = new Set<Standing>();
  #prompt: Session | undefined;
  #turn = 0;
  #isEnded = false;

  constructor(settings: SessionSettings, connectionsMax: number) {
    this.#settings = settings;
    this.#transactions = limiter({ max: connectionsMax });
  }

  /** I2. */
  shared(): Driver {
    this.#mustBeOpen();
    let at = this.#turn++ % SHARED;
    for (let other = 0; other < SHARED; other++) if (this.#underWay(other) < this.#underWay(at)) at = other;
    let session = this.#shared[at];
    if (!session?.isOpen) {
      session = new Session(this.#settings);
      this.#shared[at] = session;
    }
    return session.sql;
  }

  #underWay(at: number): number {
    const session = this.#shared[at];
    return session?.isOpen ? session.underWay : 0;
  }

  begin(mode: string, work: Work): Promise<unknown> {
    return this.#with((session) => session.transaction(mode, work));
  }

  exchange<T>(work: (tx: Tx) => Promise<Ending<T>>): Promise<T> {
    return this.#with((session) => session.exchange(work));
  }

  unhurried(work: Work): Promise<unknown> {
    return this.#with((session) => session.unhurried(() => session.transaction('', work)));
  }

  async promptly<T>(send: (sql: Driver) => Promise<T>): Promise<T> {
    const session = this.#promptSession();
    try {
      return await send(session.sql);
    } catch (error) {
      if (session.isOpen) throw error;
      return send(this.#promptSession().sql);
    }
  }

  #promptSession(): Session {
    this.#mustBeOpen();
    if (!this.#prompt?.isOpen) this.#prompt = new Session({ ...this.#settings, ...PROMPT });
    return this.#prompt;
  }

  async probe({ idleMs, timeoutMs }: ProbeOptions): Promise<void> {
    const idle = [...this.#shared, ...this.#idle].filter(
      (session) => session.isOpen && session.idleMs > idleMs,
    );
    await Promise.all(idle.map((session) => session.probe(timeoutMs)));
  }

  stand(options: StandingOptions): Standing {
    this.#mustBeOpen();
    const standing = new Standing(this.#settings, options);
    this.#standing.add(standing);
    return standing;
  }

  async #with<T>(act: (session: Session) => Promise<T>): Promise<T> {
    const leave = await this.#transactions.acquire('').catch(() => Promise.reject(ended()));
    const session = this.#find() ?? new Session(this.#settings);
    this.#held.add(session);
    try {
      return await act(session);
    } finally {
      this.#held.delete(session);
      if (session.isOpen) this.#idle.push(session);
      leave();
    }
  }

  async end(graceS: number): Promise<void> {
    this.#isEnded = true;
    this.#transactions.close();
    const all = [...this.#shared, ...this.#idle, ...this.#held, ...(this.#prompt ? [this.#prompt] : [])];
    await Promise.all([...this.#standing].map((standing) => standing.end()));
    await Promise.all(all.map((session) => session.end(graceS)));
  }

  #mustBeOpen(): void {
    if (this.#isEnded) throw ended();
  }

  /** I1. The most recently used session is the most likely to be warm. Surplus sessions are kept for the next peak. */
  #find(): Session | undefined {
    for (let session = this.#idle.pop(); session; session = this.#idle.pop())
      if (session.isOpen) return session;
    return undefined;
  }
}

const ended = (): Error =>
  Object.assign(new Error('The connections to PostgreSQL are being closed'), { code: 'CONNECTION_ENDED' });
