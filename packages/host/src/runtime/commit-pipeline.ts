import type { CommitGroup, CommitResult, Store } from '@gantry/store';

interface Pending {
  readonly group: CommitGroup;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Batches on their way at once: one on the disk, one ready in the writer's queue, so neither thread waits. */
const ON_THEIR_WAY_MAX = 2;

/**
 * Gathers commit groups into batches: one transaction, one sync, many runs.
 *
 * Few batches are on their way at a time. What arrives meanwhile forms the next one, so a slow disk makes
 * batches larger, never the queue of transactions longer.
 */
export class CommitPipeline {
  readonly #store: Pick<Store, 'commit'>;
  #pending: Pending[] = [];
  #onTheirWay = 0;
  #scheduled = false;
  #drained: (() => void)[] = [];

  constructor(store: Pick<Store, 'commit'>) {
    this.#store = store;
  }

  /** Resolves after the group is on disk, or with `won: false` when it lost. Rejects when the store failed. */
  commit(group: CommitGroup): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ group, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing is waiting or on its way. */
  drained(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #isIdle(): boolean {
    return this.#pending.length === 0 && this.#onTheirWay === 0;
  }

  #schedule(): void {
    if (this.#scheduled || this.#pending.length === 0 || this.#onTheirWay >= ON_THEIR_WAY_MAX) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  async #flush(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    this.#scheduled = false;
    this.#onTheirWay++;
    try {
      const results = await this.#store.commit(batch.map((pending) => pending.group));
      for (let i = 0; i < batch.length; i++) batch[i]!.resolve(results[i]!);
    } catch (error) {
      for (const pending of batch) pending.reject(error);
    }
    this.#onTheirWay--;
    this.#schedule();
    if (this.#isIdle()) for (const resolve of this.#drained.splice(0)) resolve();
  }
}
