import type { CommitGroup, CommitResult, Store } from '@gantry/store';

interface Pending {
  readonly group: CommitGroup;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers commit groups into batches: one transaction, one sync, many runs.
 *
 * One batch is on its way at a time. What arrives meanwhile forms the next one, so a slow disk makes
 * batches larger, never the queue of transactions longer.
 */
export class CommitPipeline {
  readonly #store: Pick<Store, 'commit'>;
  #pending: Pending[] = [];
  #state: 'idle' | 'scheduled' | 'committing' = 'idle';
  #drained: (() => void)[] = [];

  constructor(store: Pick<Store, 'commit'>) {
    this.#store = store;
  }

  /** Resolves after the group is on disk, or with `won: false` when it lost. Rejects when the store failed. */
  commit(group: CommitGroup): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ group, resolve, reject });
      if (this.#state === 'idle') {
        this.#state = 'scheduled';
        setImmediate(() => this.#flush());
      }
    });
  }

  /** Resolves when nothing is waiting or on its way. */
  drained(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  async #flush(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    this.#state = 'committing';
    try {
      const results = await this.#store.commit(batch.map((pending) => pending.group));
      for (let i = 0; i < batch.length; i++) batch[i]!.resolve(results[i]!);
    } catch (error) {
      for (const pending of batch) pending.reject(error);
    }
    this.#next();
  }

  #next(): void {
    if (this.#pending.length > 0) {
      this.#state = 'scheduled';
      setImmediate(() => this.#flush());
      return;
    }
    this.#state = 'idle';
    const drained = this.#drained;
    this.#drained = [];
    for (const resolve of drained) resolve();
  }
}
