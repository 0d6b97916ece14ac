/**
 * State that lasts as long as a session (LISTEN, advisory locks), on its own connection, which is replaced when
 * lost. Between two connections no notice is received and no lock is held; `onReady` reports the end of that gap.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Session } from './session.ts';
import type { SessionSettings } from './session-settings.ts';

export interface StandingOptions {
  /** Sent on each new connection. */
  readonly statements: () => readonly string[];
  readonly onNotice: (payload: string) => void;
  /** Called after every statement was answered, including the first time. */
  readonly onReady: () => void;
}

const AGAIN_MS_MIN = 20;
const AGAIN_MS_MAX = 1_000;

export class Standing {
  /** Rejects if the first attempt fails; further attempts follow anyway. */
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

  /** Sends on the current connection. If it is lost meanwhile, the next one starts with `statements`. */
  async send(statement: string): Promise<void> {
    await this.#session?.sql.unsafe(statement);
  }

  /** Closes a connection that seems dead, and opens another. */
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
