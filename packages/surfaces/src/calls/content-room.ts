/**
 * Limits the memory of content that was read for pack code and has not left the host yet. A large answer
 * reserves space before it is read, and releases it when the pack has the answer. A tenant gets at most half.
 */
import { limiter } from '@gantry/limiter';

/** Waits until this many bytes may be read. */
export type MakeRoom = (bytes: number) => Promise<void>;

export interface ContentRoomOptions {
  readonly bytesMax: number;
  readonly smallBytes: number;
  /** The limit for callers whose signal never fires. */
  readonly heldMsMax: number;
}

export class ContentRoom {
  readonly #options: ContentRoomOptions;
  readonly #limiter;

  constructor(options: ContentRoomOptions) {
    this.#options = options;
    this.#limiter = limiter({ max: options.bytesMax, perTenantMax: options.bytesMax / 2 });
  }

  get held(): number {
    return this.#limiter.stats().held;
  }

  for({ tenant, signal }: { readonly tenant: string; readonly signal: AbortSignal }): MakeRoom {
    return async (bytes) => {
      if (bytes <= this.#options.smallBytes) return;
      const leave = await this.#limiter.acquire(tenant, { weight: bytes, signal });
      const over = AbortSignal.any([signal, AbortSignal.timeout(this.#options.heldMsMax)]);
      if (over.aborted) leave();
      else over.addEventListener('abort', leave, { once: true });
    };
  }
}

const MIB = 1_048_576;

/**
 * One for the whole process, because surfaces share its memory.
 * Memory use is about three times as much until collected.
 */
export const contentRoom = new ContentRoom({
  bytesMax: 128 * MIB,
  smallBytes: MIB,
  heldMsMax: 60_000,
});
