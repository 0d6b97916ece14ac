/** How much a child may have under way. The runner counts the same; a child that sends more is not ours. */
import { FRAME_BYTES_MAX } from './runner/wire.mjs';

const CREDIT_BYTES = 8 * 1024 * 1024;
const FRAME_COST_MIN = 1024;
const HEAD_BYTES = 8;
/** Told in portions: a frame for each call would double what is sent. So little that the child never waits for it. */
const PORTION_BYTES = CREDIT_BYTES / 8;

const costOf = (size: number): number => Math.max(size + HEAD_BYTES, FRAME_COST_MIN);

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
    return this.#underWay < CREDIT_BYTES + Math.max(FRAME_BYTES_MAX, FRAME_COST_MIN);
  }

  give(size: number): void {
    this.#underWay -= costOf(size);
    this.#untold += costOf(size);
    if (this.#untold < PORTION_BYTES) return;
    this.#give(this.#untold);
    this.#untold = 0;
  }
}
