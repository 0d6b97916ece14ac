import { randomUUID } from 'node:crypto';

const PONG_MS = 250;

/** Checks whether the event loop of a process still runs. */
export class Heartbeat {
  readonly #send: (token: string) => void;
  /** By tokens that were not returned yet. */
  readonly #waiting = new Map<unknown, () => void>();

  constructor(send: (token: string) => void) {
    this.#send = send;
  }

  async isAlive(waitMs = PONG_MS): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const token = randomUUID();
    const timer = setTimeout(() => resolve(false), waitMs);
    this.#waiting.set(token, () => resolve(true));
    this.#send(token);
    return promise.finally(() => clearTimeout(timer));
  }

  /** False when this token was not sent, or was already returned. */
  heard(token: unknown): boolean {
    this.#waiting.get(token)?.();
    return this.#waiting.delete(token);
  }
}
