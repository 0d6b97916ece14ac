/** One connection, in its own instance of the driver. */
import type { Duplex } from 'node:stream';
import postgres from 'postgres';
import { Deadline } from './deadline.ts';
import type { Driver, Ending, Tx } from './open-postgres.ts';
import { commitError } from './reasons.ts';
import { optionsOf, type SessionSettings, wireOf } from './session-settings.ts';
import { lostConnection, statementTimedOut, type Wire } from './wire.ts';

const ROLLBACK_MS_MAX = 5_000;

interface Answer {
  readonly command: string;
}

interface Sendable {
  execute(): PromiseLike<Answer>;
}

/** From here on, a lost connection leaves it unknown whether the server has committed. */
async function sendEnding(statements: readonly Sendable[]): Promise<Answer> {
  try {
    const answers = await Promise.all(statements.map((statement) => statement.execute()));
    return answers.at(-1)!;
  } catch (error) {
    throw commitError(error);
  }
}

export class Session {
  /** Throws if the connection is lost, instead of continuing without one. */
  readonly sql: Driver;
  readonly #driver: Driver;
  readonly #wire: Wire;
  readonly #deadline: Deadline;
  readonly #lost = Promise.withResolvers<void>();
  #isOpen = true;
  #attempts = 0;

  constructor(settings: SessionSettings, onNotice?: (payload: string) => void) {
    this.#wire = wireOf(settings);
    this.#deadline = new Deadline(settings.statementTimeoutMs ?? Number.POSITIVE_INFINITY, () =>
      this.#wire.cut(statementTimedOut()),
    );
    // Not in the types of the driver
    const connecting = {
      socket: () => this.#connect(),
      onnotify: (_channel: string, payload: string) => onNotice?.(payload),
    };
    this.#driver = postgres({
      ...optionsOf(settings),
      // No lifetime: a replacement would be another connection in the same instance
      max: 1,
      max_lifetime: null,
      ...connecting,
    });
    this.sql = this.#guarded(() => this.#isOpen);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when the session has ended. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  get idleMs(): number {
    return this.#deadline.idleMs;
  }

  /** The number of statements without an answer. */
  get underWay(): number {
    return this.#deadline.underWay;
  }

  /** A connection that does not answer is lost. */
  async probe(timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => void this.end(0), timeoutMs);
    try {
      await this.sql.unsafe('select 1');
    } catch {
      await this.end(0);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Statements sent while `work` runs have no deadline. */
  async unhurried<T>(work: () => Promise<T>): Promise<T> {
    const { limitMs } = this.#deadline;
    this.#deadline.limitMs = Number.POSITIVE_INFINITY;
    try {
      return await work();
    } finally {
      this.#deadline.limitMs = limitMs;
    }
  }

  /** `mode`: `read only`, ... A thrown error rolls back. */
  async transaction<T>(mode: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    await this.sql.unsafe(`begin ${mode}`);
    return this.#within(
      async (tx) => ({ answer: await work(tx), last: [] }),
      () => true,
    );
  }

  /** If BEGIN fails, nothing is sent after the statements that went with it. */
  async exchange<T>(work: (tx: Tx) => Promise<Ending<T>>): Promise<T> {
    let hasBegun = true;
    const begun = this.sql.unsafe('begin').execute();
    begun.catch(() => {
      hasBegun = false;
    });
    return this.#within(
      async (tx) => {
        const ending = await work(tx);
        await begun;
        return ending;
      },
      () => hasBegun,
    );
  }

  async #within<T>(work: (tx: Tx) => Promise<Ending<T>>, hasBegun: () => boolean): Promise<T> {
    let isOver = false;
    try {
      // Statements that `work` sends after it has ended must not run in the next transaction
      const { last, answer } = await work(this.#guarded(() => this.#isOpen && hasBegun() && !isOver));
      isOver = true;
      const { command } = await sendEnding([...last, this.sql.unsafe('commit')]);
      // A statement failed and its error was ignored: the server has rolled back
      if (command !== 'COMMIT') throw new Error(`The transaction ended with ${command}`);
      return answer;
    } catch (error) {
      isOver = true;
      await this.#rollback();
      throw error;
    }
  }

  /** With `graceS`, running statements may finish; otherwise the session ends at once. */
  async end(graceS: number): Promise<void> {
    if (graceS > 0 && this.#isOpen) await this.#driver.end({ timeout: graceS });
    this.#lose();
    this.#wire.cut();
  }

  #lose(): void {
    this.#isOpen = false;
    this.#deadline.stop();
    this.#lost.resolve();
  }

  /**
   * Statements queued in the driver for their connection would wait forever: the driver gives the first one to the next
   * connection, which does not exist, and forgets the others. If it is ended while it holds that one, it rejects all.
   */
  #giveUp(): void {
    queueMicrotask(() => this.#driver.end({ timeout: 0 }).catch(() => {}));
  }

  /** A server that does not answer loses the connection, and with it the transaction. */
  async #rollback(): Promise<void> {
    if (!this.#isOpen) return;
    const timer = setTimeout(() => void this.end(0), ROLLBACK_MS_MAX);
    try {
      await this.#driver.unsafe('rollback');
    } catch {
      await this.end(0);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The driver adds its listeners after these, so the session is already closed when the driver detects the loss. */
  async #connect(): Promise<Duplex> {
    if (this.#attempts++ > 0 || !this.#isOpen) throw lostConnection();
    const socket = await this.#wire.connect();
    socket.on('error', () => this.#lose());
    socket.on('close', () => {
      this.#lose();
      this.#giveUp();
    });
    return socket;
  }

  #guarded(isUsable: () => boolean): Driver {
    const open = <T>(value: T): T => {
      if (!isUsable()) throw lostConnection();
      return value;
    };
    const deadline = this.#deadline;
    const unsafe: Driver['unsafe'] = (...args) => deadline.watch(open(this.#driver).unsafe(...args));
    return new Proxy(this.#driver, {
      apply: (driver, self, args) => deadline.watch(Reflect.apply(open(driver), self, args)),
      get: (driver, name) => (name === 'unsafe' ? unsafe : Reflect.get(driver, name)),
    });
  }
}
