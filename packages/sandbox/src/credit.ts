/** How much a child may have under way. The runner counts the same; a child that sends more is ended. */
import { FRAME_BYTES_MAX } from './runner/wire.mjs';

const CREDIT_BYTES = 8 * 1024 * 1024;
/** Given in portions: a frame for each call would double what is sent. Small enough that the child never waits for one. */
const PORTION_BYTES = CREDIT_BYTES / 8;

export class Credit {
  readonly #give: (bytes: number) => void;
  #underWay = 0;
  #ungiven = 0;

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
    this.#ungiven += cost;
    if (this.#ungiven < PORTION_BYTES) return;
    this.#give(this.#ungiven);
    this.#ungiven = 0;
  }
}
