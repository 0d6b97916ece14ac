/**
 * What lasts as long as a session (LISTEN, advisory locks), on a connection of its own that is made again when it is
 * lost. Between the two nothing is heard and nothing held: `onReady` says when that is over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Session } from './session.ts';
import type { SessionSettings } from './session-settings.ts';

export interface StandingOptions {
  /** Sent on each new connection. */
  readonly statements: () => readonly string[];
  readonly onNotice: (payload: string) => void;
  /** Every statement was answered; also the first time. */
  readonly onReady: () => void;
}

const AGAIN_MS_MIN = 20;
const AGAIN_MS_MAX = 1_000;

export class Standing {
  /** Rejects when the first attempt fails; others follow all the same. */
  readonly ready: Promise<void>;
  /** Grows with every connection. */
  generation = 0;
  readonly #settings: SessionSettings;
  readonly #options: StandingOptions;
  readonly #ending = new AbortController();
  #session: Session | null = null;

  constructor(settings: SessionSettings, options: StandingOptions) {
    this.#settings = settings;
    this.#options = options;
    const first = Promise.withResolvers<void>();
    this.ready = first.promise;
    // Only callers that wait for it get the error
    this.ready.catch(() => {});
    void this.#stand(first);
  }

  /** On the connection of now. When it is lost meanwhile, the next one starts with `statements`. */
  async send(statement: string): Promise<void> {
    await this.#session?.sql.unsafe(statement);
  }

  /** Takes a connection that seems dead, and makes another. */
  renew(): void {
    void this.#session?.end(0);
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#session?.end(0);
  }

  async #stand(first: PromiseWithResolvers<void>): Promise<void> {
    const { onNotice, onReady } = this.#options;
    for (let failures = 0; !this.#ending.signal.aborted; failures++) {
      const session = new Session(this.#settings, onNotice);
      this.#session = session;
      this.generation++;
      try {
        for (const statement of this.#options.statements()) await session.sql.unsafe(statement);
        first.resolve();
        failures = 0;
        onReady();
        await session.lost;
      } catch (error) {
        first.reject(error);
        await session.end(0);
      }
      const ms = Math.min(AGAIN_MS_MIN * 2 ** failures, AGAIN_MS_MAX) * (0.5 + Math.random() / 2);
      await sleep(ms, undefined, { signal: this.#ending.signal }).catch(() => {});
    }
  }
}
