/**
 * Content that was read for pack code and has not left the host yet.
 *
 * A call is small and its answer may be 32 MiB, so nothing else bounds how much the answers of many calls hold. Who
 * reads a large one waits here for room before it is read, and keeps the room until the signal of the call says that
 * the pack has the answer. No tenant gets more than half: one that does not take its answers stops itself.
 */

/** Waits until so much may be read. */
export type MakeRoom = (bytes: number) => Promise<void>;

interface Asking {
  readonly tenant: string;
  readonly signal: AbortSignal;
}

interface Waiter {
  readonly tenant: string;
  readonly bytes: number;
  enter(): void;
}

export interface ContentRoomOptions {
  readonly bytesMax: number;
  /** Without waiting. */
  readonly smallBytes: number;
  /** For callers whose signal never comes. */
  readonly heldMsMax: number;
}

export class ContentRoom {
  readonly #options: ContentRoomOptions;
  readonly #heldBy = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  #held = 0;

  constructor(options: ContentRoomOptions) {
    this.#options = options;
  }

  for({ tenant, signal }: Asking): MakeRoom {
    return async (bytes) => {
      if (bytes <= this.#options.smallBytes) return;
      await this.#enter(tenant, bytes, signal);
      const leave = (): void => this.#hold(tenant, -bytes);
      const over = AbortSignal.any([signal, AbortSignal.timeout(this.#options.heldMsMax)]);
      if (over.aborted) leave();
      else over.addEventListener('abort', leave, { once: true });
    };
  }

  async #enter(tenant: string, bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { tenant, bytes, enter: resolve };
    const giveUp = (): void => {
      if (this.#waiting.delete(waiter)) reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.add(waiter);
    this.#admit();
    await promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  #hold(tenant: string, bytes: number): void {
    const held = (this.#heldBy.get(tenant) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(tenant);
    else this.#heldBy.set(tenant, held);
    this.#held += bytes;
    if (bytes < 0) this.#admit();
  }

  /** In the order of their coming, but past those whose tenant has its half. */
  #admit(): void {
    const { bytesMax } = this.#options;
    for (const waiter of this.#waiting) {
      const { tenant, bytes } = waiter;
      if (this.#held + bytes > bytesMax) return;
      if ((this.#heldBy.get(tenant) ?? 0) + bytes > bytesMax / 2) continue;
      this.#waiting.delete(waiter);
      this.#hold(tenant, bytes);
      waiter.enter();
    }
  }
}

const MIB = 1_048_576;

/** Memory is the whole process's, whichever surface reads. */
export const contentRoom = new ContentRoom({
  bytesMax: 256 * MIB,
  smallBytes: MIB,
  heldMsMax: 60_000,
});
