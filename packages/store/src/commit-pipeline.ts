import { setImmediate as setImmediateAsync } from 'node:timers/promises';
import { StoreError } from './error.ts';
import type { CommitGroup, CommitResult, Store } from './port.ts';

const RESULTS_PER_TURN = 8;

interface Pending {
  readonly group: CommitGroup;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The number of batches in flight. While one is synced, others wait in the writer's queue, so the writer is not
 * idle while this thread delivers results. Measured at 128 connections, as a fraction of the bare limit: one 0.48,
 * two 0.53, three 0.57. A writer that falls behind commits all queued batches together.
 */
const ON_THEIR_WAY_MAX = 3;

const LARGE_CHARS = 64 * 1024;

/** Whether the group has a large entry body or large content. */
export const isLarge = (group: CommitGroup): boolean =>
  group.some(
    (write) =>
      (write.kind === 'putEntry' && write.entry.body.length > LARGE_CHARS) ||
      (write.kind === 'putContent' && write.bytes.length > LARGE_CHARS),
  );

/**
 * Gathers commit groups into batches: one transaction, one sync, many runs.
 *
 * I1  Few batches are in flight at a time. Groups that arrive meanwhile form the next batch, so a slow disk makes
 *     transactions larger, not the queue longer.
 * I2  Large groups are committed alone, one at a time, so that no other group waits for their bytes.
 * I3  A batch that the store rejects because of its content is committed again in parts, so that only the groups that
 *     cannot be written fail.
 */
export class CommitPipeline {
  readonly #store: Pick<Store, 'commit'>;
  readonly #onCommitted: (group: CommitGroup) => void;
  #pending: Pending[] = [];
  readonly #large: Pending[] = [];
  #onTheirWay = 0;
  #isLargeOnItsWay = false;
  #scheduled = false;
  #drained: (() => void)[] = [];

  /** `onCommitted` is called for each group that won, after its caller got the result. */
  constructor(store: Pick<Store, 'commit'>, onCommitted: (group: CommitGroup) => void = () => {}) {
    this.#store = store;
    this.#onCommitted = onCommitted;
  }

  /** Resolves once the group is on disk, or with `won: false` if it lost. Rejects if the store failed. */
  commit(group: CommitGroup): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      const pending = { group, resolve, reject };
      if (isLarge(group)) {
        this.#large.push(pending);
        void this.#sendLarge();
      } else {
        this.#pending.push(pending);
        this.#schedule();
      }
    });
  }

  /** Resolves when no group is queued or in flight. */
  drained(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #isIdle(): boolean {
    return this.#pending.length === 0 && this.#large.length === 0 && this.#onTheirWay === 0;
  }

  /** Waits for the end of this event loop turn, so that more groups can join the batch. */
  #schedule(): void {
    if (this.#scheduled || this.#pending.length === 0 || this.#onTheirWay >= ON_THEIR_WAY_MAX) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    this.#scheduled = false;
    return this.#send(batch);
  }

  /** I2. */
  async #sendLarge(): Promise<void> {
    const next = this.#isLargeOnItsWay ? undefined : this.#large.shift();
    if (!next) return;
    this.#isLargeOnItsWay = true;
    try {
      await this.#send([next]);
    } finally {
      this.#isLargeOnItsWay = false;
      void this.#sendLarge();
    }
  }

  async #send(batch: readonly Pending[]): Promise<void> {
    this.#onTheirWay++;
    const results = await this.#commit(batch.map((pending) => pending.group));
    this.#land();
    await resolveInTurns(batch, results);
    for (const [i, { group }] of batch.entries()) if (isWon(results[i]!)) this.#onCommitted(group);
  }

  /** I3. Halves, so that one bad group of n costs 2 log n further commits. */
  async #commit(groups: readonly CommitGroup[]): Promise<Settled[]> {
    try {
      return await this.#store.commit(groups);
    } catch (error) {
      if (groups.length === 1 || !isOfContent(error)) return groups.map(() => ({ error }));
    }
    const middle = groups.length >> 1;
    const first = await this.#commit(groups.slice(0, middle));
    return [...first, ...(await this.#commit(groups.slice(middle)))];
  }

  #land(): void {
    this.#onTheirWay--;
    this.#schedule();
    if (this.#isIdle()) for (const resolve of this.#drained.splice(0)) resolve();
  }
}

type Settled = CommitResult | { readonly error: unknown };

const isWon = (settled: Settled): boolean => 'won' in settled && settled.won;

const CONTENT_ERRORS: readonly string[] = ['invalid_text', 'too_long', 'rejected'];

/**
 * Whether nothing was written because of what was to be written. A plain error is a bug in the code that checks or writes
 * a group: the other groups do not depend on it.
 */
export const isOfContent = (error: unknown): boolean =>
  !(error instanceof StoreError) || CONTENT_ERRORS.includes(error.code);

/** Callers continue when they get a result, so a large batch is resolved over several event loop turns. */
async function resolveInTurns(batch: readonly Pending[], results: readonly Settled[]): Promise<void> {
  for (const [i, { resolve, reject }] of batch.entries()) {
    if (i > 0 && i % RESULTS_PER_TURN === 0) await setImmediateAsync();
    const settled = results[i]!;
    if ('won' in settled) resolve(settled);
    else reject(settled.error);
  }
}
