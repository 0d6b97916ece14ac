import { randomUUID } from 'node:crypto';

const PONG_MS = 250;

/** Whether a process still turns its event loop. */
export class Heartbeat {
  readonly #send: (token: string) => void;
  #awaited: { readonly token: string; readonly heard: () => void } | undefined;
  /** Questions without an answer: each may be answered once. */
  #unanswered = 0;

  constructor(send: (token: string) => void) {
    this.#send = send;
  }

  async isAlive(waitMs = PONG_MS): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const token = randomUUID();
    const timer = setTimeout(() => resolve(false), waitMs);
    this.#awaited = { token, heard: () => resolve(true) };
    this.#unanswered += 1;
    this.#send(token);
    return promise.finally(() => clearTimeout(timer));
  }

  /** False when nobody asked for this answer. A late one for an older question is none. */
  heard(token: unknown): boolean {
    if (this.#unanswered === 0) return false;
    this.#unanswered -= 1;
    if (this.#awaited && this.#awaited.token === token) this.#awaited.heard();
    return true;
  }
}
