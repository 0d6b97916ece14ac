/**
 * The connection that shows other processes that this one is alive. It receives their notices, and holds an
 * advisory lock for each lease of this process. The server frees the locks as soon as the process is gone.
 *
 * I1  One connection serves all watchers and locks, from the first of them until the store closes.
 * I2  After a period without the connection, watchers check everything.
 * I3  A connection that does not deliver the notice of a renewal before the next renewal is replaced.
 */
import type { Standing } from '@gantry/postgres';
import type { Store, StoreChange } from '../port.ts';
import { CHANNEL, decodeNotice, LOOK_AT_EVERYTHING } from './notices.ts';
import type { Sql } from './sql.ts';

type Listener = (change: StoreChange) => void;

/** Any number that nothing else uses for advisory locks with two keys. */
export const LOCK_CLASS = 707_041_802;
/** The second key is the epoch modulo this. */
export const LOCK_KEYS = 2 ** 31;

export class Presence {
  readonly #sql: Sql;
  readonly #processId: string;
  readonly #listeners = new Set<Listener>();
  readonly #epochs = new Set<number>();
  #standing: Standing | null = null;
  #hearing: 'heard' | 'expecting' = 'heard';
  #wasReady = false;

  constructor(sql: Sql, processId: string) {
    this.#sql = sql;
    this.#processId = processId;
  }

  /** Grows with each new connection. */
  get generation(): number {
    return this.#standing?.generation ?? 0;
  }

  readonly watch: Store['watch'] = async (listener) => {
    const own: Listener = (change) => listener(change);
    this.#listeners.add(own);
    try {
      await this.#stand().ready;
    } catch (error) {
      this.#listeners.delete(own);
      throw error;
    }
    return async () => void this.#listeners.delete(own);
  };

  tell(change: StoreChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Resolves when the lock is held. If the connection is lost meanwhile, the next one takes the lock. */
  async hold(epoch: number): Promise<void> {
    this.#epochs.add(epoch);
    const standing = this.#stand();
    await standing.ready;
    await standing.send(lock(epoch)).catch(() => {});
  }

  async release(epoch: number): Promise<void> {
    if (!this.#epochs.delete(epoch)) return;
    await this.#standing?.send(unlock(epoch)).catch(() => {});
  }

  /** I3. Called before a notice of this process is sent. */
  expectNotice(): void {
    if (this.#standing === null) return;
    if (this.#hearing === 'expecting') this.#standing.renew();
    this.#hearing = 'expecting';
  }

  noticeFailed(): void {
    this.#hearing = 'heard';
  }

  /** I1. */
  #stand(): Standing {
    this.#standing ??= this.#sql.stand({
      statements: () => [...[...this.#epochs].map(lock), `listen "${CHANNEL}"`],
      onNotice: (payload) => this.#onNotice(payload),
      onReady: () => this.#onReady(),
    });
    return this.#standing;
  }

  #onNotice(payload: string): void {
    const change = decodeNotice(payload, this.#processId);
    if (change === null) this.#hearing = 'heard';
    else if (change.missed || change.runs.length + change.kinds.length > 0) this.tell(change);
  }

  /** I2. */
  #onReady(): void {
    this.#hearing = 'heard';
    if (this.#wasReady) this.tell(LOOK_AT_EVERYTHING);
    this.#wasReady = true;
  }
}

/** Shared: a session that the server has not yet detected as dead may hold it too. */
const lock = (epoch: number): string => `select pg_advisory_lock_shared(${keysOf(epoch)})`;
const unlock = (epoch: number): string => `select pg_advisory_unlock_shared(${keysOf(epoch)})`;
const keysOf = (epoch: number): string => `${LOCK_CLASS}, ${epoch % LOCK_KEYS}`;
