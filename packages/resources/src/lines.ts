/**
 * Changes that lost to others wait in line for the entries that they touch, and those that wait for the same ones are
 * decided together.
 *
 * I1  Who holds a line waits for nothing but its commit. Lines are entered in the order of their keys, so no two wait
 *     for each other.
 * I2  After each commit the lines are free for others that wait for one of them.
 */
const FOLDED_MAX = 64;

interface Waiting<J, A> {
  readonly job: J;
  readonly settled: PromiseWithResolvers<A>;
}

interface Queue<J, A> {
  readonly keys: readonly string[];
  readonly waiting: Waiting<J, A>[];
}

export class Lines<J, A> {
  readonly #decide: (jobs: readonly J[]) => Promise<readonly A[]>;
  /** By each of its keys; of several with one key the newest. */
  readonly #queues = new Map<string, Queue<J, A>>();
  readonly #tails = new Map<string, Promise<void>>();

  /** `decide` answers one attempt for each job; it does not throw. */
  constructor(decide: (jobs: readonly J[]) => Promise<readonly A[]>) {
    this.#decide = decide;
  }

  isHot(key: string): boolean {
    return this.#queues.has(key);
  }

  /** Joins those that wait for one of the keys already, if there are such. */
  wait(keys: readonly string[], job: J): Promise<A> {
    const settled = Promise.withResolvers<A>();
    const hot = keys.find((key) => this.#queues.has(key));
    const queue = hot === undefined ? undefined : this.#queues.get(hot);
    if (queue) queue.waiting.push({ job, settled });
    else void this.#work({ keys: keys.toSorted(), waiting: [{ job, settled }] });
    return settled.promise;
  }

  async #work(queue: Queue<J, A>): Promise<void> {
    for (const key of queue.keys) this.#queues.set(key, queue);
    while (queue.waiting.length > 0) {
      const leave = await this.#enter(queue.keys);
      const folded = queue.waiting.splice(0, FOLDED_MAX);
      const attempts = await this.#decide(folded.map(({ job }) => job));
      leave();
      for (const [i, { settled }] of folded.entries()) settled.resolve(attempts[i]!);
    }
    for (const key of queue.keys) if (this.#queues.get(key) === queue) this.#queues.delete(key);
  }

  /** I1, I2. */
  async #enter(keys: readonly string[]): Promise<() => void> {
    const left = Promise.withResolvers<void>();
    for (const key of keys) {
      const before = this.#tails.get(key);
      this.#tails.set(key, left.promise);
      await before;
    }
    return () => {
      for (const key of keys) if (this.#tails.get(key) === left.promise) this.#tails.delete(key);
      left.resolve();
    };
  }
}
