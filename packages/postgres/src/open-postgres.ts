/**
 * A pool of connections to PostgreSQL that outlives the server.
 *
 * The driver has pools of its own. But when a server dies amid transactions they go on with what they have lost: a
 * late write to no socket ends the process, and a connection made anew may never send again (porsager/postgres#1208,
 * #1154). So every connection here is an instance of the driver by itself, and is thrown away when it is lost.
 *
 * I1  Nothing is sent on a connection that was lost; the next statement gets a new one.
 * I2  A transaction has a connection to itself. Statements outside of one share a few, and follow each other there.
 *
 * @example
 * const sql = openPostgres({ url, connectionsMax: 10, connectTimeoutS: 5, connection: { application_name: 'mine' } });
 * await sql.begin(async (tx) => { await tx`insert ...`; });
 */
import postgres from 'postgres';
import { Places } from './places.ts';
import { optionsOf, Session } from './session.ts';

/** bigint columns hold milliseconds, counts, sequences and epochs: all are safe integers. */
export type Types = { bigint: number };
export type Sql = postgres.Sql<Types>;
/** Inside a transaction. */
export type Tx = postgres.ISql<Types>;

export interface PostgresSettings {
  readonly url: string;
  /** For transactions; statements outside of one have a few more. */
  readonly connectionsMax: number;
  readonly connectTimeoutS: number;
  /** Of every session: `application_name`, `search_path`, ... */
  readonly connection: Readonly<Record<string, string | number>>;
}

/** Statements follow each other on one without waiting for answers, so few are enough; a slow one delays a quarter. */
const SHARED = 4;

type Work = (tx: Tx) => Promise<unknown>;

/** The driver's own face, with transactions, statements and the end of it done here. Connects when it is first used. */
export function openPostgres(settings: PostgresSettings): Sql {
  const pool = new Pool(settings);
  // Of this one only LISTEN is used, which the driver gives a connection that it makes anew by itself
  const driver = postgres(settings.url, { ...optionsOf(settings), max: 1 });
  const own: Readonly<Record<PropertyKey, unknown>> = {
    begin: (...args: [Work] | [string, Work]) =>
      args.length === 1 ? pool.begin('', args[0]) : pool.begin(args[0], args[1]),
    async end({ timeout = 0 }: { timeout?: number } = {}) {
      await Promise.all([pool.end(timeout), driver.end({ timeout })]);
    },
  };
  return new Proxy(driver, {
    apply: (_driver, self, args) => Reflect.apply(pool.shared(), self, args),
    get(_driver, name) {
      if (name === 'unsafe') return pool.shared().unsafe;
      return Object.hasOwn(own, name) ? own[name] : Reflect.get(driver, name);
    },
  });
}

class Pool {
  readonly #settings: PostgresSettings;
  readonly #places: Places;
  readonly #shared: Session[] = [];
  readonly #idle: Session[] = [];
  readonly #held = new Set<Session>();
  #turn = 0;

  constructor(settings: PostgresSettings) {
    this.#settings = settings;
    this.#places = new Places(settings.connectionsMax);
  }

  /** I2. */
  shared(): Sql {
    this.#places.mustBeOpen();
    const at = this.#turn++ % SHARED;
    let session = this.#shared[at];
    if (!session?.isOpen) {
      session = new Session(this.#settings);
      this.#shared[at] = session;
    }
    return session.sql;
  }

  async begin(mode: string, work: Work): Promise<unknown> {
    const leave = await this.#places.take();
    const session = this.#find() ?? new Session(this.#settings);
    this.#held.add(session);
    try {
      return await session.transaction(mode, work);
    } finally {
      this.#held.delete(session);
      if (session.isOpen) this.#idle.push(session);
      leave();
    }
  }

  async end(graceS: number): Promise<void> {
    this.#places.close();
    const all = [...this.#shared, ...this.#idle, ...this.#held];
    await Promise.all(all.map((session) => session.end(graceS)));
  }

  /** I1. The one used last is the likeliest to be warm; those beyond what is needed stay for the next crowd. */
  #find(): Session | undefined {
    for (let session = this.#idle.pop(); session; session = this.#idle.pop())
      if (session.isOpen) return session;
    return undefined;
  }
}
