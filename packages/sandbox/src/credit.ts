/** How much a child may have under way. The runner counts the same; a child that sends more is not ours. */
import { FRAME_BYTES_MAX } from './runner/wire.mjs';

const CREDIT_BYTES = 8 * 1024 * 1024;
/** Told in portions: a frame for each call would double what is sent. So little that the child never waits for it. */
const PORTION_BYTES = CREDIT_BYTES / 8;

export class Credit {
  readonly #give: (bytes: number) => void;
  #underWay = 0;
  #untold = 0;

  constructor(give: (bytes: number) => void) {
    this.#give = give;
  }

  /** False when the child had none left; the last frame may go over by its own size. */
  take(cost: number): boolean {
    this.#underWay += cost;
    return this.#underWay < CREDIT_BYTES + FRAME_BYTES_MAX;
  }

  give(cost: number): void {
    this.#underWay -= cost;
    this.#untold += cost;
    if (this.#untold < PORTION_BYTES) return;
    this.#give(this.#untold);
    this.#untold = 0;
  }
}
