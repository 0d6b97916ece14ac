/** So many at once, the others in the order of their coming. */
export class Places {
  #free: number;
  #isClosed = false;
  readonly #waiting: PromiseWithResolvers<void>[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  /** Resolves with what gives the place back. */
  async take(): Promise<() => void> {
    this.mustBeOpen();
    if (this.#free > 0) this.#free--;
    else {
      const waiter = Promise.withResolvers<void>();
      this.#waiting.push(waiter);
      await waiter.promise;
    }
    return () => {
      const next = this.#waiting.shift();
      if (next) next.resolve();
      else this.#free++;
    };
  }

  mustBeOpen(): void {
    if (this.#isClosed) throw closed();
  }

  /** Those who wait are refused. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(closed());
  }
}

const closed = (): Error =>
  Object.assign(new Error('The connections to PostgreSQL are being closed'), { code: 'CONNECTION_ENDED' });
