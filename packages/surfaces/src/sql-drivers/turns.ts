/**
 * Who may use a database now: so many at once, in the order in which they came.
 *
 * I1  One key (a tenant) never has all places, nor all of the queue.
 * I2  Who waits is let in or refused within a bounded time.
 */
import { OpenwopError } from '@gantry/protocol';
import { inTime } from '../deadline.ts';

export const PLACES_MAX = 4;
const PLACES_BY_KEY_MAX = 2;
const WAITING_MAX = 1_000;
const WAITING_BY_KEY_MAX = 500;
const WAIT_MAX_MS = 15_000;

interface Waiting {
  readonly key: string;
  enter(leave: () => void): void;
  refuse(refusal: OpenwopError): void;
}

export class Turns {
  readonly #inside = new Map<string, number>();
  #places = PLACES_MAX;
  #waiting: Waiting[] = [];
  #isClosed = false;

  /** Resolves with what gives the place back. Rejects with `storage_unavailable` when there was none in time. */
  take(key: string): Promise<() => void> {
    if (this.#isClosed) return Promise.reject(stopping());
    const own = this.#waiting.filter((each) => each.key === key).length;
    if (own >= WAITING_BY_KEY_MAX || this.#waiting.length >= WAITING_MAX)
      return Promise.reject(busy('Too many statements wait.'));
    const { promise: entered, resolve: enter, reject: refuse } = Promise.withResolvers<() => void>();
    const waiting = { key, enter, refuse };
    this.#waiting.push(waiting);
    this.#admit();
    return inTime(WAIT_MAX_MS, entered, () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      return busy('Other statements kept this one waiting for too long.');
    });
  }

  /** Those who wait are refused; those inside are let end. */
  close(): void {
    this.#isClosed = true;
    for (const { refuse } of this.#waiting) refuse(stopping());
    this.#waiting = [];
  }

  #admit(): void {
    this.#waiting = this.#waiting.filter((waiting) => {
      const inside = this.#inside.get(waiting.key) ?? 0;
      if (this.#places === 0 || inside >= PLACES_BY_KEY_MAX) return true;
      this.#places--;
      this.#inside.set(waiting.key, inside + 1);
      waiting.enter(this.#leaveOnce(waiting.key));
      return false;
    });
  }

  #leaveOnce(key: string): () => void {
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#places++;
      const inside = this.#inside.get(key)! - 1;
      if (inside === 0) this.#inside.delete(key);
      else this.#inside.set(key, inside);
      this.#admit();
    };
  }
}

const busy = (reason: string): OpenwopError =>
  new OpenwopError('storage_unavailable', { message: `${reason} Nothing was changed. Try again later.` });

export const stopping = (): OpenwopError => busy('The host is stopping.');
