/** How much a child may have under way. The runner counts the same; a child that sends more is not ours. */
import { FRAME_BYTES_MAX } from './runner/wire.mjs';

const CREDIT_BYTES = 8 * 1024 * 1024;
const FRAME_COST_MIN = 1024;
const LENGTHS_BYTES = 8;
/** Told in portions: a frame for each call would double what is sent. So little that the child never waits for it. */
const PORTION_BYTES = CREDIT_BYTES / 8;

const costOf = (size: number): number => Math.max(size + LENGTHS_BYTES, FRAME_COST_MIN);

export class Credit {
  readonly #give: (bytes: number) => void;
  #underWay = 0;
  #untold = 0;

  constructor(give: (bytes: number) => void) {
    this.#give = give;
  }

  /** False when the child had none left; the last frame may go over by its own size. */
  take(size: number): boolean {
    this.#underWay += costOf(size);
    return this.#underWay < CREDIT_BYTES + FRAME_BYTES_MAX;
  }

  give(size: number): void {
    this.#underWay -= costOf(size);
    this.#untold += costOf(size);
    if (this.#untold < PORTION_BYTES) return;
    this.#give(this.#untold);
    this.#untold = 0;
  }
}

/** From here on a frame waits for room before it is collected. */
export const LARGE_FRAME_BYTES = 1024 * 1024;

/**
 * Room for large frames of all processes together, held until the host has dealt with them; the others wait, and
 * their children with them, in the order of their coming.
 *
 * Without it 32 processes could each have three frames of 49 MiB here: the last beyond their credit, a blocking call
 * and one being collected, 4.6 GiB in all. With it the frames of hostile processes take 256 MiB, and what is not
 * large 32 times 9 MiB of credit and collecting. Who holds room and does not go on loses it with its wall clock.
 */
export class FrameRoom {
  readonly #bytesMax: number;
  #held = 0;
  readonly #waiting: { readonly bytes: number; enter(): void }[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Resolves with what gives the room back, which may be called more than once. */
  async take(bytes: number): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ bytes, enter: resolve });
    this.#admit();
    await promise;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= bytes;
      this.#admit();
    };
  }

  #admit(): void {
    for (
      let [next] = this.#waiting;
      next && this.#held + next.bytes <= this.#bytesMax;
      [next] = this.#waiting
    ) {
      this.#waiting.shift();
      this.#held += next.bytes;
      next.enter();
    }
  }
}

/** Memory is the whole process's, however many sandboxes it has. */
export const frameRoom = new FrameRoom(256 * 1024 * 1024);
