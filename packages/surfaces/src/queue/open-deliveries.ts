/** Deliveries that this process took from a broker and that are not settled: each has its own time. */

interface Open<T> {
  readonly delivery: T;
  readonly timer: NodeJS.Timeout;
  readonly endsAt: number;
}

export class OpenDeliveries<T> {
  readonly #open = new Map<string, Open<T>>();
  readonly #expire: (delivery: T) => void;

  /** `expire` gives a message back whose time is over. */
  constructor(expire: (delivery: T) => void) {
    this.#expire = expire;
  }

  add(handle: string, delivery: T, visibilityMs: number): void {
    const timer = setTimeout(() => {
      this.#open.delete(handle);
      this.#expire(delivery);
    }, visibilityMs);
    timer.unref();
    this.#open.set(handle, { delivery, timer, endsAt: performance.now() + visibilityMs });
  }

  get(handle: string): T | undefined {
    return this.#open.get(handle)?.delivery;
  }

  /** The delivery is `work`'s alone; when it fails, it is as open as before. Undefined when it is not open. */
  async settle<R>(handle: string, work: (delivery: T) => Promise<R>): Promise<R | undefined> {
    const open = this.#open.get(handle);
    if (!open) return undefined;
    clearTimeout(open.timer);
    this.#open.delete(handle);
    try {
      return await work(open.delivery);
    } catch (error) {
      this.add(handle, open.delivery, Math.max(0, open.endsAt - performance.now()));
      throw error;
    }
  }

  values(): T[] {
    return Array.from(this.#open.values(), ({ delivery }) => delivery);
  }

  clear(): void {
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
  }
}
