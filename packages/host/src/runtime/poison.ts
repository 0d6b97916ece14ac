/**
 * Keeps pack code that crashes the host from doing so again at every start.
 *
 * I1 An execution in flight when a process ended uncleanly, within `LIFE_MS` of its start there, is counted when its
 *    run is taken over, before it starts again. At the limit it fails with `invocation_poisoned` instead.
 * I2 From the second end on, suspects start one at a time, so that only the one that crashes is counted further.
 * I3 The end of the execution, a recorded call, a longer run time or an orderly stop resets its count to 0.
 * I4 An execution that is neither taken over nor runs for `LIFE_MS` writes nothing.
 */
import { hash } from 'node:crypto';
import type { Execution, Outcome } from '@gantry/engine';
import { type Limiter, limiter } from '@gantry/limiter';
import { ERRORS } from '@gantry/protocol';
import type { Entry, RunKey, Store, Write } from '@gantry/store';
import { type Clock, systemClock } from './clock.ts';
import type { Executor } from './outside-work.ts';

export const SUSPECT = 'suspect';
const LIFE_MS = 60_000;
const ONE_AT_A_TIME_FROM = 2;
/** By then the run was taken over or has ended. */
const KEPT_MS = 7 * 86_400_000;

/** Unclean ends so far; the next one counts only if the execution had started. */
interface Count {
  readonly ends: number;
  readonly hasBegun: boolean;
}

const INNOCENT: Count = { ends: 0, hasBegun: false };

export interface PoisonOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  /** Unclean ends after which an execution is not started again; 0 disables the guard. */
  readonly endsMax: number;
  readonly now: () => number;
  readonly clock?: Clock;
}

export class PoisonGuard {
  readonly #options: PoisonOptions;
  /** Runs that were taken over and have not continued yet. */
  readonly #orphans = new Set<string>();
  readonly #inFlight = new Set<Suspect>();
  readonly #alone: Limiter = limiter({ max: 1 });
  #isStopping = false;

  constructor(options: PoisonOptions) {
    this.#options = options;
  }

  /** These runs were taken over from another process. */
  takenOver(keys: readonly RunKey[]): void {
    if (this.#options.endsMax > 0) for (const { runId } of keys) this.#orphans.add(runId);
  }

  around(executor: Executor): Executor {
    const { endsMax, clock = systemClock } = this.#options;
    if (endsMax === 0) return executor;
    return async (key, execution, signal, work) => {
      const suspect = new Suspect(this.#options, key, execution);
      const isOrphan = this.#orphans.has(key.runId);
      // All executions that the run had in flight start in one turn of the event loop
      if (isOrphan) clock.soon(() => this.#orphans.delete(key.runId));
      const ends = isOrphan ? await suspect.count() : 0;
      if (ends >= endsMax) return poisoned(execution, suspect, ends);
      const release = ends >= ONE_AT_A_TIME_FROM ? await this.#waitAlone(suspect, ends, signal) : () => {};
      if (isOrphan) await suspect.note({ ends, hasBegun: true });
      this.#inFlight.add(suspect);
      const isTrusted = (): void => {
        release();
        void suspect.note(INNOCENT);
      };
      const cancel = clock.after(LIFE_MS, isTrusted, 'background');
      try {
        const outcome = await executor(key, execution, signal, { ...work, recorded: () => suspect.clear() });
        // The outcome is valid even if the entry cannot be deleted now: the entry expires
        if (!this.#isStopping) await suspect.clear().catch(() => {});
        return outcome;
      } finally {
        cancel();
        this.#inFlight.delete(suspect);
        release();
      }
    };
  }

  /** Called before the runs are stopped. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    // An unreachable database must not block the rest of the stop
    await Promise.allSettled([...this.#inFlight].map((suspect) => suspect.note(INNOCENT)));
  }

  async #waitAlone(suspect: Suspect, ends: number, signal: AbortSignal): Promise<() => void> {
    await suspect.note({ ends, hasBegun: false });
    return this.#alone.acquire('', { signal });
  }
}

async function poisoned({ nodeId }: Execution, suspect: Suspect, ends: number): Promise<Outcome> {
  await suspect.clear();
  const { message, next } = ERRORS.invocation_poisoned;
  const error = { code: 'invocation_poisoned', message: `${message} ${next}`, details: { nodeId, ends } };
  return { ok: false, retryable: false, error };
}

/** One execution, and its entry in the store if it has one. */
class Suspect {
  readonly #options: PoisonOptions;
  readonly #key: Pick<Entry, 'kind' | 'tenant' | 'id'>;
  readonly #runId: string;
  #version: number | null = null;
  #isKnown = false;
  readonly #turn: Limiter = limiter({ max: 1 });

  constructor(options: PoisonOptions, { tenant, runId }: RunKey, { nodeId, visit, attempt }: Execution) {
    this.#options = options;
    this.#runId = runId;
    this.#key = { kind: SUSPECT, tenant, id: `${runId}/${visit}/${attempt}/${hash('sha256', nodeId)}` };
  }

  /** Unclean ends, the last one included. */
  async count(): Promise<number> {
    const entry = await this.#options.store.entries.get(this.#key);
    this.#isKnown = true;
    this.#version = entry?.version ?? null;
    if (!entry) return 1;
    const { ends, hasBegun }: Count = JSON.parse(entry.body);
    return ends + (hasBegun ? 1 : 0);
  }

  note(count: Count): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isKnown) await this.count();
      const now = this.#options.now();
      const times = { dueAt: null, expiresAt: now + KEPT_MS, createdAt: now };
      const entry = { ...this.#key, ref: this.#runId, ...times, body: JSON.stringify(count) };
      const expectedVersion = this.#version;
      if (await this.#commit({ kind: 'putEntry', entry, expectedVersion }))
        this.#version = (expectedVersion ?? 0) + 1;
    });
  }

  clear(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#version === null) return;
      const expectedVersion = this.#version;
      this.#version = null;
      await this.#commit({ kind: 'deleteEntry', key: this.#key, expectedVersion });
    });
  }

  /** A loss means that another process counts now. */
  async #commit(write: Write): Promise<boolean> {
    const [result] = await this.#options.store.commit([[write]]);
    return result?.won ?? false;
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#turn.run('', act);
    // Prevents an unhandled rejection if the caller does not await it
    done.catch(() => {});
    return done;
  }
}
