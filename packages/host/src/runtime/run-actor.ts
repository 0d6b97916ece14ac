/**
 * One claimed run in memory.
 *
 * I1  One decision at a time: the next is made only after the last one is on disk.
 * I2  `run` is what is committed; nobody sees a decision that might still lose.
 * I3  Work that leaves the process is derived from `run`, so a crash and a normal step look alike.
 * I4  The commit that leaves nothing to do also gives up ownership; a waiting run costs no memory.
 */
import {
  type Command,
  type Decision,
  decide,
  type Invocation,
  invocations,
  isReady,
  type Outcome,
  type Plan,
  type Run,
  wakeAt,
} from '@gantry/engine';
import type { CommitGroup, IdempotencyRecord, RunKey } from '@gantry/store';
import type { CommitPipeline } from './commit-pipeline.ts';
import type { EventHub } from './event-hub.ts';
import { toSnapshot, toStoredEvents } from './run-record.ts';
import type { CommandResult, IdempotencyFor } from './runtime.ts';
import type { Executor } from './side-effect.ts';
import { BITE_EVENTS_MAX, headOf, stretch } from './stretch.ts';
import { TIMER_MS_MAX } from './wake-clock.ts';

/** A reader folds at most about this many events after a snapshot. */
const SNAPSHOT_EVERY_EVENTS = 500;

export interface ActorHost {
  readonly epoch: number;
  readonly pipeline: CommitPipeline;
  readonly hub: EventHub;
  readonly now: () => number;
  readonly executor: (typeId: string) => Executor;
  /** The run has nothing left to do here: it ended or waits until `wakeAt`. */
  parked(actor: RunActor, wakeAt: number | null): void;
  /** The store refused or someone else owns the run: what is in memory can't be trusted. */
  lost(actor: RunActor, error: unknown): void;
}

/** What is in memory is no longer what is committed; reading the run again puts it right. */
export class StaleRunError extends Error {
  constructor(runId: string) {
    super(`run ${runId} was changed elsewhere`);
  }
}

interface Task {
  readonly command: Command;
  readonly record: IdempotencyFor<Run> | undefined;
  readonly resolve: ((result: CommandResult) => void) | undefined;
  readonly reject: ((error: unknown) => void) | undefined;
}

export class RunActor {
  readonly key: RunKey;
  readonly plan: Plan;
  readonly #host: ActorHost;
  readonly #inflight = new Map<string, AbortController>();
  readonly #tasks: Task[] = [];
  #run: Run;
  /** What the run row says; part of the compare-and-set of every append. */
  #owner: number | null;
  #snapshotSeq: number;
  #working = false;
  #abandoned = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(host: ActorHost, plan: Plan, run: Run, owner: number | null, snapshotSeq: number) {
    this.#host = host;
    this.key = { tenant: run.facts.owner.tenant, runId: run.facts.runId };
    this.plan = plan;
    this.#run = run;
    this.#owner = owner;
    this.#snapshotSeq = snapshotSeq;
  }

  get run(): Run {
    return this.#run;
  }

  /** Goes on with whatever is ready or due. */
  proceed(): void {
    if (!this.#working) void this.#work();
  }

  /** The clock claimed the run for this process and something is due. */
  wake(): void {
    this.#owner = this.#host.epoch;
    this.#enqueue({ type: 'wake', now: this.#host.now(), maxEvents: BITE_EVENTS_MAX });
  }

  command(command: Command, record?: IdempotencyFor<Run>): Promise<CommandResult> {
    if (this.#abandoned) return Promise.reject(new StaleRunError(this.key.runId));
    return new Promise((resolve, reject) => {
      this.#tasks.push({ command, record, resolve, reject });
      this.proceed();
    });
  }

  /** Stops what is under way; the log already says how to go on. */
  abandon(error: unknown): void {
    this.#abandoned = true;
    clearTimeout(this.#timer);
    for (const controller of this.#inflight.values()) controller.abort();
    this.#inflight.clear();
    for (const task of this.#tasks.splice(0)) task.reject?.(error);
  }

  #enqueue(command: Command): void {
    this.#tasks.push({ command, record: undefined, resolve: undefined, reject: undefined });
    this.proceed();
  }

  async #work(): Promise<void> {
    this.#working = true;
    clearTimeout(this.#timer);
    try {
      for (let task = this.#nextTask(); task; task = this.#nextTask()) {
        const written = this.#decide(task);
        if (written) await written;
      }
    } catch (error) {
      this.#host.lost(this, error);
      return;
    } finally {
      this.#working = false;
    }
    this.#rest();
  }

  #nextTask(): Task | undefined {
    if (this.#abandoned) return undefined;
    const task = this.#tasks.shift();
    if (task) return task;
    if (!isReady(this.plan, this.#run)) return undefined;
    const command: Command = { type: 'advance', now: this.#host.now(), maxEvents: BITE_EVENTS_MAX };
    return { command, record: undefined, resolve: undefined, reject: undefined };
  }

  /** Answers undefined when nothing is to be written. The promise rejects when the run was lost. */
  #decide(task: Task): Promise<void> | undefined {
    let decision: Decision;
    try {
      decision = this.#decideStretch(task.command);
    } catch (error) {
      task.reject?.(error);
      throw error;
    }
    if (decision.events.length > 0) return this.#commit(task, decision);
    task.resolve?.({ kind: 'refused', run: this.#run });
    return undefined;
  }

  /** A command that does not apply makes nothing go on; waiting commands end the stretch. */
  #decideStretch(command: Command): Decision {
    const decision = decide(this.plan, this.#run, command);
    if (decision.events.length === 0 || this.#tasks.length > 0) return decision;
    return stretch(this.plan, decision, command.now);
  }

  async #commit(task: Task, decision: Decision): Promise<void> {
    const next = decision.run;
    const events = toStoredEvents(decision.events, this.#run.nextSeq);
    const head = headOf(this.plan, next, this.#host.epoch, this.#isBusy(next));
    const snapshot =
      next.nextSeq - this.#snapshotSeq >= SNAPSHOT_EVERY_EVENTS ? { snapshot: toSnapshot(next) } : undefined;
    const group: CommitGroup[number][] = [
      {
        kind: 'append',
        ...this.key,
        expectedSeq: this.#run.nextSeq,
        expectedOwner: this.#owner,
        events,
        head,
        ...snapshot,
      },
    ];
    const record: IdempotencyRecord | undefined = task.record?.(next);
    if (record) group.push({ kind: 'idempotency', record, now: this.#host.now() });

    let result: Awaited<ReturnType<CommitPipeline['commit']>>;
    try {
      result = await this.#host.pipeline.commit(group);
    } catch (error) {
      task.reject?.(error);
      throw error;
    }
    if (!result.won) {
      this.#lose(task, result.reason);
      return;
    }

    this.#run = next;
    this.#owner = head.owner;
    if (snapshot) this.#snapshotSeq = next.nextSeq;
    this.#host.hub.publish(this.key.runId, events);
    task.resolve?.({ kind: 'done', run: next });
    this.#follow();
  }

  #lose(task: Task, reason: 'stale' | 'exists'): void {
    if (reason === 'exists') {
      task.resolve?.({ kind: 'duplicate' });
      return;
    }
    const error = new StaleRunError(this.key.runId);
    task.reject?.(error);
    throw error;
  }

  /** More commands wait, or work under way may finish while the run is paused. */
  #isBusy(run: Run): boolean {
    return this.#tasks.length > 0 || (isDraining(run) && this.#inflight.size > 0);
  }

  /** Starts the work that the committed run asks for and stops what it no longer wants. */
  #follow(): void {
    const wanted = invocations(this.plan, this.#run);
    if (wanted.length === 0 && this.#inflight.size === 0) return;
    const ids = new Set(wanted.map(workId));
    for (const [id, controller] of this.#inflight) {
      if (ids.has(id) || isDraining(this.#run)) continue;
      controller.abort();
      this.#inflight.delete(id);
    }
    for (const invocation of wanted) if (!this.#inflight.has(workId(invocation))) this.#invoke(invocation);
  }

  #invoke(invocation: Invocation): void {
    const id = workId(invocation);
    const controller = new AbortController();
    this.#inflight.set(id, controller);
    const settle = (outcome: Outcome): void => {
      if (this.#inflight.get(id) !== controller) return;
      this.#inflight.delete(id);
      const { nodeId, attempt, visit } = invocation;
      this.#enqueue({ type: 'settle', now: this.#host.now(), nodeId, attempt, visit, outcome });
    };
    const run = this.#host.executor(invocation.typeId);
    run(this.key, invocation, controller.signal).then(settle, (error: unknown) => {
      if (controller.signal.aborted) return;
      this.#inflight.delete(id);
      this.#host.lost(this, error);
    });
  }

  #rest(): void {
    if (this.#abandoned) return;
    const at = wakeAt(this.plan, this.#run);
    if (this.#owner === null) {
      this.#host.parked(this, at ?? null);
      return;
    }
    this.#follow();
    if (invocations(this.plan, this.#run).length === 0 && !this.#isBusy(this.#run)) {
      void this.#release();
    } else if (at !== undefined) {
      const delayMs = Math.max(0, Math.min(at - this.#host.now(), TIMER_MS_MAX));
      this.#timer = setTimeout(() => this.wake(), delayMs);
    }
  }

  /** Claimed, but there was nothing to do: give the run back without an event. */
  async #release(): Promise<void> {
    this.#working = true;
    const { nextSeq } = this.#run;
    const head = { ...headOf(this.plan, this.#run, this.#host.epoch, false), owner: null };
    const give = { ...this.key, expectedSeq: nextSeq, expectedOwner: this.#owner, events: [], head };
    try {
      const result = await this.#host.pipeline.commit([{ kind: 'append', ...give }]);
      if (!result.won) throw new StaleRunError(this.key.runId);
      this.#owner = null;
    } catch (error) {
      return this.#host.lost(this, error);
    } finally {
      this.#working = false;
    }
    void this.#work();
  }
}

/** Paused, but work under way may finish; its result stays in the invocation log until the resume. */
const isDraining = (run: Run): boolean => run.status === 'paused' && run.drainPolicy === 'drain-current-node';

const workId = (invocation: Invocation): string =>
  `${invocation.nodeId}\0${invocation.visit}\0${invocation.attempt}`;
