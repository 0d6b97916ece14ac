/**
 * One durable change: its reads, its decision and its writes are one commit group.
 *
 * I1  The function of a change has no effect except through its `Change`, and may run again.
 * I2  Entries that it read and did not write must be unchanged when it commits, also when it refuses and the
 *     refusal is recorded.
 * I3  The record of its caller is the first of its writes, so a lost commit shows whether the call was
 *     repeated or an id was taken.
 * I4  A change that loses is decided again, from the second time on in a queue with others, for
 *     `AGAIN_MS_MAX` and at least `TRIES_MIN` times: on a slow machine or database a single try may take that
 *     long.
 */
import { hash } from 'node:crypto';
import { type EmittedEvent, isKeptRefusal, OpenwopError } from '@gantry/protocol';
import {
  type CommitPipeline,
  type CommitResult,
  entryKey,
  isLarge,
  type Store,
  StoreError,
  type Write,
} from '@gantry/store';
import { type Caller, type Outcome, recordedOutcome, recordOf, systemCaller } from './caller.ts';
import { type Chance, Change } from './change.ts';
import { Lines } from './lines.ts';
import type { Stored } from './record-kind.ts';
import { Reads, State } from './state.ts';

const AGAIN_MS_MAX = 2_000;
const TRIES_MIN = 8;
/** A commit with an unknown outcome is repeated with its record. Each repetition may take as long to find out. */
const DOUBTS_MAX = 2;

export interface ChangesOptions extends Chance {
  readonly store: Pick<Store, 'entries' | 'records'>;
  readonly pipeline: Pick<CommitPipeline, 'commit'>;
}

interface Job {
  readonly caller: Caller;
  readonly work: (change: Change) => Promise<unknown>;
  /** I4. */
  readonly until: number;
  tries: number;
  /** A record that was absent when read existed at the commit. The second time this is a conflict, not a race. */
  hasRaced?: boolean;
}

type Attempt =
  /** `committed`: by this attempt. */
  | { readonly kind: 'done'; readonly outcome: Outcome; readonly committed?: Change }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** `doubt`: why the outcome of the commit is unknown. */
  | { readonly kind: 'again'; readonly keys: readonly string[]; readonly doubt?: StoreError };

/** A decided job with its writes: the record first, if it has one. */
interface Decided {
  readonly job: Job;
  readonly change: Change;
  readonly outcome: Outcome;
  readonly record: Write | null;
  readonly writes: readonly Write[];
  readonly events: readonly EmittedEvent[];
}

/** The change was decided repeatedly, and lost to others each time. The same change may succeed later. */
export class Contended extends OpenwopError {
  constructor() {
    super('conflict', {
      message: 'Other requests kept changing the same records; nothing was changed. Try again.',
    });
  }
}

/** Other changes are queued for this entry, so a first try joins the queue. */
class Hot extends Error {
  readonly key: string;

  constructor(key: string) {
    super('others wait for this entry');
    this.key = key;
  }
}

export class Changes {
  readonly #options: ChangesOptions;
  readonly #reads: Reads;
  readonly #lines: Lines<Job, Attempt>;

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#reads = new Reads(options.store.entries);
    this.#lines = new Lines({
      decide: (jobs) => this.#attempt(jobs, new State(this.#reads)),
      isAgain: (attempt, { until, tries }) =>
        attempt.kind === 'again' && !attempt.doubt && (options.now() <= until || tries < TRIES_MIN),
    });
  }

  /**
   * @example
   * const task = await changes.run(caller, async (change) => {
   *   const board = await change.get(boards, boardId);
   *   change.update(board, { tasks: board.record.tasks + 1 });
   *   return change.create(tasks, { board: boardId, title });
   * });
   */
  async run<T>(caller: Caller, work: (change: Change) => Promise<T>): Promise<T> {
    const job: Job = { caller, work, until: this.#options.now() + AGAIN_MS_MAX, tries: 0 };
    let attempt = await this.#first(job);
    for (let doubts = 0; attempt.kind === 'again'; doubts++) {
      if (doubts > DOUBTS_MAX) throw attempt.doubt ?? new Contended();
      attempt = await this.#lines.wait(attempt.keys, job);
      if (attempt.kind === 'again' && !attempt.doubt) throw new Contended();
    }
    if (attempt.kind === 'failed') throw attempt.error;
    await attempt.committed?.answering();
    if ('refusal' in attempt.outcome) throw attempt.outcome.refusal;
    return attempt.outcome.answer as T;
  }

  /** The writes of a change with their preconditions, for a caller that makes its own commit. */
  async writesOf(caller: Caller, work: (change: Change) => Promise<unknown>): Promise<readonly Write[]> {
    const state = new State(this.#reads);
    const change = new Change(caller, state, this.#options);
    await work(change);
    state.apply(change.writes);
    return [...change.writes, ...(await state.preconditions())];
  }

  /** For clocks: `change.settle` of a record that was read, with the writes that `also` adds to the commit. */
  settle<R extends object>(
    actor: string,
    stored: Stored<R>,
    next: NoInfer<R> | null,
    also: (change: Change) => unknown = () => {},
  ): Promise<boolean> {
    return this.run(systemCaller(actor, stored), async (change) => {
      const isSettled = await change.settle(stored, next);
      if (isSettled) await also(change);
      return isSettled;
    });
  }

  /** For the digests of requests that contain secrets. */
  digest(text: string): string {
    const { sealer } = this.#options;
    return sealer ? sealer.hmac('idempotency')(text).toString('hex') : hash('sha256', text, 'hex');
  }

  async #first(job: Job): Promise<Attempt> {
    const state = new State(this.#reads, (key) => {
      if (this.#lines.isHot(key)) throw new Hot(key);
    });
    const attempt = (await this.#attempt([job], state))[0]!;
    if (attempt.kind === 'failed' && attempt.error instanceof Hot)
      return { kind: 'again', keys: [attempt.error.key] };
    return attempt;
  }

  /**
   * Decides the jobs in order on one state, and commits them as one group. The actor of a run commits its
   * events, so a change with events is decided and committed alone; so is one with a large record.
   */
  async #attempt(jobs: readonly Job[], state: State): Promise<Attempt[]> {
    const attempts = new Map<Job, Attempt>();
    const decided: Decided[] = [];
    const alone: Job[] = [];
    for (const job of jobs) {
      const each = await this.#decide(job, state).catch((error): Attempt => ({ kind: 'failed', error }));
      if ('kind' in each) attempts.set(job, each);
      else if (each.writes.length === 0) attempts.set(job, { kind: 'done', outcome: each.outcome });
      else if (jobs.length > 1 && (each.events.length > 0 || isLarge(each.writes))) alone.push(job);
      else {
        state.apply(each.writes);
        decided.push(each);
      }
    }
    if (decided.length > 0)
      for (const [job, attempt] of await this.#commit(decided, state)) attempts.set(job, attempt);
    for (const job of alone) attempts.set(job, (await this.#attempt([job], new State(this.#reads)))[0]!);
    return jobs.map((job) => attempts.get(job)!);
  }

  async #decide(job: Job, state: State): Promise<Decided | Attempt> {
    const { caller, work } = job;
    job.tries++;
    const change = new Change(caller, state, this.#options);
    const outcome = await work(change).then(
      (answer): Outcome => ({ answer }),
      (error): Outcome => {
        if (error instanceof OpenwopError) return { refusal: error };
        throw error;
      },
    );
    const isRefusal = 'refusal' in outcome;
    const record = recordOf(caller, change.recorded(outcome), change.now);
    if (isRefusal && (!record || !isKeptRefusal(outcome.refusal))) {
      // The refusal may be caused by the effect of the same call
      const earlier = record && (await recordedOutcome(caller, this.#options.store.records, change.now));
      return { kind: 'done', outcome: earlier ?? outcome };
    }
    const own = isRefusal ? [] : change.writes;
    const lease = caller.kind === 'node' ? [leaseOf(caller.epoch, change.now)] : [];
    return {
      job,
      change,
      outcome,
      record,
      writes: [...(record ? [record] : []), ...(own.length > 0 ? lease : []), ...own],
      events: isRefusal ? [] : change.events,
    };
  }

  async #commit(decided: readonly Decided[], state: State): Promise<[Job, Attempt][]> {
    const writes = decided.flatMap((each) => each.writes);
    const group = [...writes, ...(await state.preconditions())];
    try {
      const result = await this.#write(decided[0]!, group);
      if (result.won) return decided.map((each) => [each.job, committed(each)]);
      return await this.#lost(decided, state, group[result.write]!, result);
    } catch (error) {
      if (!(error instanceof StoreError) || error.outcome !== 'unknown')
        return decided.map(({ job }) => [job, { kind: 'failed', error }]);
      return this.#inDoubt(decided, state, error);
    }
  }

  /**
   * If the run does not accept the events of a change now, they are recorded with the change, and a repeat writes them.
   */
  async #write({ job: { caller }, outcome, events, change }: Decided, group: Write[]): Promise<CommitResult> {
    const { pipeline } = this.#options;
    if (caller.kind !== 'node' || events.length === 0) return pipeline.commit(group);
    const result = await caller.tell(events, group);
    return result ?? pipeline.commit([recordOf(caller, outcome, change.now, events)!, ...group.slice(1)]);
  }

  /** A change whose own write lost for another reason than a race is settled; the others are decided again. */
  async #lost(
    decided: readonly Decided[],
    state: State,
    write: Write,
    { reason }: Extract<CommitResult, { won: false }>,
  ): Promise<[Job, Attempt][]> {
    const again: Attempt = { kind: 'again', keys: state.keys };
    const settle = async (each: Decided): Promise<Attempt> => {
      if (!each.writes.includes(write)) return again;
      if (write === each.record) {
        const earlier = await recordedOutcome(each.job.caller, this.#options.store.records, each.change.now);
        return earlier ? { kind: 'done', outcome: earlier } : again;
      }
      if (write.kind === 'expectLease') return { kind: 'failed', error: leaseLost() };
      if (reason === 'exists' && !each.job.hasRaced && isNewAfterRead(write, state)) {
        each.job.hasRaced = true;
        return again;
      }
      const refusal = each.change.refusalOf(write, reason);
      return refusal ? { kind: 'done', outcome: { refusal } } : again;
    };
    return Promise.all(
      decided.map(async (each): Promise<[Job, Attempt]> => {
        return [each.job, await settle(each).catch((error): Attempt => ({ kind: 'failed', error }))];
      }),
    );
  }

  /**
   * If the entries are as this commit would have written them, it succeeded. Otherwise a change with a record
   * is repeated to find out; without a record the outcome stays unknown.
   */
  async #inDoubt(decided: readonly Decided[], state: State, error: StoreError): Promise<[Job, Attempt][]> {
    const isOurs = await this.#isWritten(state).catch(() => false);
    return decided.map((each) => {
      const { job, record } = each;
      if (isOurs) return [job, committed(each)];
      return [job, record ? { kind: 'again', keys: state.keys, doubt: error } : { kind: 'failed', error }];
    });
  }

  async #isWritten({ written }: State): Promise<boolean> {
    const wanted = [...written.values()];
    const kept = wanted.filter((entry) => entry !== null);
    if (kept.length === 0 || kept.length < wanted.length) return false;
    const found = await this.#options.store.entries.getMany(kept);
    return kept.every(({ version, body }, i) => found[i]?.version === version && found[i]?.body === body);
  }
}

function committed({ change, outcome }: Decided): Attempt {
  if ('refusal' in outcome) return { kind: 'done', outcome };
  change.committed();
  return { kind: 'done', outcome, committed: change };
}

const isNewAfterRead = (write: Write, state: State): boolean =>
  write.kind === 'putEntry' && write.expectedVersion === null && state.hasRead(entryKey(write.entry));

export const leaseOf = (epoch: number, now: number): Write => ({ kind: 'expectLease', epoch, now });

export const leaseLost = (): OpenwopError =>
  new OpenwopError('service_unavailable', {
    message: 'This process no longer works on the run of this call.',
  });
