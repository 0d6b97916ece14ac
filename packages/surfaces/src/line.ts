/** So many at once; the others wait in the order in which they came. */
export class Line {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnceMax: number) {
    this.#free = atOnceMax;
  }

  /** How many wait. */
  get length(): number {
    return this.#waiting.length;
  }

  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Whoever waits takes the place over; nobody gets in between
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/** One at a time for each key, in the order in which they came. */
export class Lines {
  readonly #last = new Map<string, Promise<unknown>>();

  async inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }
}
