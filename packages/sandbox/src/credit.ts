/**
 * Limits the bytes of calls and events in progress of a child. The runner counts the same way; a child that
 * sends more is ended.
 */
import { FRAME_BYTES_MAX } from './runner/wire.mjs';

const CREDIT_BYTES = 8 * 1024 * 1024;
/**
 * Credit is returned in portions: a frame for each call would double the traffic. The portion is small enough
 * that the child never waits for one.
 */
const PORTION_BYTES = CREDIT_BYTES / 8;

export class Credit {
  readonly #give: (bytes: number) => void;
  #underWay = 0;
  #ungiven = 0;

  constructor(give: (bytes: number) => void) {
    this.#give = give;
  }

  /** False when the child had no credit left. The last frame may exceed the limit by its own size. */
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
