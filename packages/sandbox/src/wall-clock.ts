/** The time limit of an invocation. The clock stops during `untimed` work. */
export class WallClock {
  readonly #over: () => void;
  #leftMs: number;
  #runsSince = 0;
  #timer: NodeJS.Timeout | undefined;
  #stops = 0;
  #isEnded = false;

  constructor(ms: number, over: () => void) {
    this.#leftMs = ms;
    this.#over = over;
    this.#run();
  }

  async untimed<T>(act: () => Promise<T>): Promise<T> {
    if (this.#stops === 0) {
      clearTimeout(this.#timer);
      this.#leftMs -= performance.now() - this.#runsSince;
    }
    this.#stops += 1;
    try {
      return await act();
    } finally {
      this.#stops -= 1;
      if (this.#stops === 0 && !this.#isEnded) this.#run();
    }
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#runsSince = performance.now();
    this.#timer = setTimeout(this.#over, Math.max(0, this.#leftMs));
  }
}
