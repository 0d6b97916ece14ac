/**
 * Large answers of one process are made ready a few in each turn of the loop: 128 of them at once, each of 1 MB, held
 * up everybody for half a second.
 */
const SMALL_BYTES = 64 * 1024;
const BYTES_PER_TURN = 1024 * 1024;

export class Pace {
  #spent = 0;
  #isTurning = false;
  readonly #waiting: (() => void)[] = [];

  get isFree(): boolean {
    return this.#spent < BYTES_PER_TURN && this.#waiting.length === 0;
  }

  /** Resolves when it is the turn of the one who waits. */
  async turn(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  spend(bytes: number): void {
    if (bytes <= SMALL_BYTES) return;
    this.#spent += bytes;
    this.#turn();
  }

  /** One of those who wait has each turn. */
  #turn(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(() => {
      this.#isTurning = false;
      this.#spent = 0;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#turn();
    });
  }
}
