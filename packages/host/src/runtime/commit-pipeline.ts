import { setImmediate as setImmediateAsync } from 'node:timers/promises';
import type { CommitGroup, CommitResult, Store } from '@gantry/store';

const RESULTS_PER_TURN = 16;

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
      this.#next();
      await resolveInTurns(batch, results);
    } catch (error) {
      this.#next();
      for (const pending of batch) pending.reject(error);
    }
  }

  #next(): void {
    if (this.#pending.length > 0) {
      this.#state = 'scheduled';
      setImmediate(() => this.#flush());
      return;
    }
    this.#state = 'idle';
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}

/** What follows a commit is work too: a large batch is handed out over several turns of the loop. */
async function resolveInTurns(batch: readonly Pending[], results: readonly CommitResult[]): Promise<void> {
  for (let i = 0; i < batch.length; i++) {
    if (i > 0 && i % RESULTS_PER_TURN === 0) await setImmediateAsync();
    batch[i]!.resolve(results[i]!);
  }
}
