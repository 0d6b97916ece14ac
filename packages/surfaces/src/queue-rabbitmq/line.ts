/** So many at once; the others wait in the order in which they came. */
export class Line {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnceMax: number) {
    this.#free = atOnceMax;
  }

  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
