/**
 * One claimed run in memory.
 *
 * I1  One decision at a time: the next is made only after the last one is on disk.
 * I2  `run` is what is committed; a decision that might still lose is not visible.
 * I3  Work that leaves the process is derived from `run`, so a crash and a normal step look alike.
 * I4  The commit that leaves nothing to do also gives up ownership; a waiting run costs no memory.
 * I5  While a pause is held, no node starts. It is held only in memory: its caller has no answer yet.
 */
import {
  type Command,
  childRequests,
  type Decision,
  decide,
  type EmittedEvent,
  type Execution,
  executions,
  isReady,
  type Plan,
  type Run,
  statusOf,
  wakeAt,
} from '@gantry/engine';
import type { CommitGroup, CommitResult, Entry, LossReason, RunKey, Write } from '@gantry/store';
import type { ActorHost, ActorState as State } from './actor-host.ts';
import { ADVANCE_EVENTS_MAX, decideAndAdvance, headOf, isDraining, isOutside } from './advance.ts';
import { takenChildren } from './children.ts';
import type { CommandRecord } from './command-answer.ts';
import { appendWrites, needsSnapshot, type RunAppend } from './commit-group.ts';
import { endingOnly, HeldPauses } from './held-pauses.ts';
import { commandOf, mailDueAt } from './mail.ts';
import { executorFor, OutsideWork, runOf } from './outside-work.ts';
import { replyWrite } from './reply.ts';
import { StaleRunError } from './run-errors.ts';
import { toStoredEvents } from './run-record.ts';
import { deletion, emitting, preparingId, resultOf, type Task, takenBy, taskWrites } from './run-task.ts';
import type { CommandResult } from './runtime.ts';
import { failInstead } from './unexpected-errors.ts';
import { LOOK_EVERY_MS } from './wake-clock.ts';

export class RunActor {
  readonly key: RunKey;
  readonly plan: Plan;
  readonly #host: ActorHost;
  readonly #outside: OutsideWork;
  readonly #tasks: Task[] = [];
  readonly #pauses: HeldPauses;
  /** Nodes whose children are being prepared. */
  readonly #preparing = new Set<string>();
  #run: Run;
  /** The owner in the run row; part of the compare-and-set of every append. */
  #owner: number | null;
  #snapshotSeq: number;
  #state: State = { name: 'resting' };

  constructor(host: ActorHost, plan: Plan, run: Run, owner: number | null, snapshotSeq: number) {
    this.#host = host;
    this.key = { tenant: run.facts.owner.tenant, runId: run.facts.runId };
    this.plan = plan;
    this.#run = run;
    this.#owner = owner;
    this.#snapshotSeq = snapshotSeq;
    this.#pauses = new HeldPauses(host.clock);
    this.#outside = new OutsideWork({
      key: this.key,
      executor: executorFor(run, host.executor),
      work: (execution) => ({
        ...runOf(run.facts, () => this.#run),
        epoch: host.epoch,
        emit: async (events) => (await this.#tell(execution, events, [])) !== null,
        tell: (events, writes) => this.#tell(execution, events, writes, this.#outside),
      }),
      settled: ({ nodeId, attempt, visit }, outcome) =>
        this.#enqueue({ command: { type: 'settle', now: host.now(), nodeId, attempt, visit, outcome } }),
      again: () => this.proceed(),
      failed: (error) => host.lost(this, error),
    });
  }

  get run(): Run {
    return this.#run;
  }

  get isWriting(): boolean {
    return this.#state.name === 'writing';
  }

  get isGone(): boolean {
    return this.#state.name === 'gone';
  }

  /** Continues with everything that is ready or due. */
  proceed(): void {
    if (this.#state.name === 'resting') void this.#work();
  }

  #enter(state: State): void {
    if (this.#state.name === 'gone') return;
    if (this.#state.name === 'resting') this.#state.cancelTimer?.();
    this.#state = state;
  }

  /** The clock claimed the run for this process and something is due. */
  wake(): void {
    this.#owner = this.#host.epoch;
    this.#enqueue({ command: { type: 'wake', now: this.#host.now(), maxEvents: ADVANCE_EVENTS_MAX } });
  }

  /** Wakes the run if this process owns it; an actor that has released the run leaves memory. */
  wakeOwned(): void {
    if (this.#owner === this.#host.epoch) this.wake();
    else this.proceed();
  }

  command(command: Command, record?: CommandRecord): Promise<CommandResult> {
    if (this.isGone) return Promise.reject(new StaleRunError(this.key.runId));
    return new Promise((resolve, reject) => this.#enqueue({ command, record, resolve, reject }));
  }

  /** Queues a mail that is in the store, unless it is queued already. */
  receive(mail: Entry): void {
    const isHere = [...this.#tasks, ...this.#pauses.tasks].some((task) => task.mail?.id === mail.id);
    if (this.isGone || isHere) return;
    this.#enqueue({ ...commandOf(mail, this.#host.now()), mail });
  }

  /** Stops running work; the log already holds what is needed to continue. */
  abandon(error: unknown): void {
    this.#enter({ name: 'gone' });
    this.#outside.abandon();
    for (const task of [...this.#tasks.splice(0), ...this.#pauses.tasks.splice(0)]) task.reject?.(error);
  }

  /** Null while the run is paused or after the node has settled: nothing is written. */
  async #tell(
    execution: Execution,
    events: readonly EmittedEvent[],
    writes: CommitGroup,
    repeats?: OutsideWork,
  ): Promise<CommitResult | null> {
    if (this.isGone) return null;
    const command = emitting(execution, events, this.#host.now());
    const { promise, resolve, reject } = Promise.withResolvers<CommitResult | null>();
    const taken = takenBy(resolve, () => repeats?.leaveUntold(execution));
    this.#enqueue({ command, call: { writes, lost: resolve }, resolve: taken, reject });
    return promise;
  }

  #enqueue(task: Task): void {
    this.#tasks.push(task);
    this.proceed();
  }

  async #work(): Promise<void> {
    this.#enter({ name: 'working' });
    try {
      for (let task = this.#nextTask(); task; task = this.#nextTask()) {
        const written = this.#host.turns.take(this.key.tenant, () => this.#decide(task));
        if (written) await written;
      }
    } catch (error) {
      this.#host.lost(this, error);
      return;
    } finally {
      this.#enter({ name: 'resting' });
    }
    this.#rest();
  }

  #nextTask(): Task | undefined {
    if (this.isGone) return undefined;
    const task = this.#tasks.shift();
    if (task) return task;
    if (this.#pauses.isHolding) return this.#pauses.due(this.#run, this.#host.now());
    if (!isReady(this.plan, this.#run)) return undefined;
    const command: Command = { type: 'advance', now: this.#host.now(), maxEvents: ADVANCE_EVENTS_MAX };
    return { command };
  }

  /** Undefined when there is nothing to write, or the run was lost meanwhile. The promise rejects if it was lost. */
  #decide(task: Task): Promise<void> | undefined {
    if (this.isGone) return void task.reject?.(new StaleRunError(this.key.runId));
    if (this.#pauses.holds(task, this.#run))
      return this.#owner === null ? this.#passTo(this.#host.epoch) : undefined;
    let decision: Decision;
    try {
      decision = this.#decideAndAdvance(task.command);
    } catch (error) {
      return failInstead(task, error, this.#tasks);
    }
    this.#preparing.delete(preparingId(task.command));
    if (decision.events.length > 0) return this.#commit(task, decision);
    const { refusal } = decision;
    const result: CommandResult = {
      kind: 'refused',
      run: this.#run,
      status: statusOf(this.plan, this.#run),
      ...(refusal && { refusal }),
    };
    if (task.mail) return this.#setAside(task, task.mail, result);
    task.resolve?.(result);
    return undefined;
  }

  /** No event is logged between `run.paused` and `run.resumed`: reports of children are read afterwards. */
  #setAside(task: Task, mail: Entry, result: CommandResult): Promise<void> | undefined {
    const isKept = task.command.type === 'childEnded' && this.#run.status === 'paused';
    if (!isKept) return this.#discard(mail, task.replyId, result);
    // Requires the run to be unchanged: a run that was resumed meanwhile would never read it
    return mail.dueAt === null ? undefined : this.#passTo(this.#owner, mailDueAt(mail, null));
  }

  /** An append without events, which loses unless the stored run is the same as here. */
  #unchanged(owner: number | null): Write {
    const head = { ...headOf(this.plan, this.#run, this.#host.epoch, false), owner };
    const { nextSeq: expectedSeq } = this.#run;
    return { kind: 'append', ...this.key, expectedSeq, expectedOwner: this.#owner, events: [], head };
  }

  /** Deletes a mail that changes nothing. If it is already deleted, it was delivered twice. */
  async #discard(mail: Entry, replyId: string | undefined, result: CommandResult): Promise<void> {
    const writes = [deletion(mail), ...replyWrite(this.#host, mail, replyId, result)];
    const { won } = await this.#host.pipeline.commit(writes);
    if (won) this.#host.committed(writes);
  }

  /** Queued commands come before automatic progress. */
  #decideAndAdvance(command: Command): Decision {
    const plan = this.#host.redacting(this.plan, this.key.tenant);
    if (this.#pauses.isHolding) return decide(plan, this.#run, endingOnly(command));
    if (this.#tasks.length > 0) return decide(plan, this.#run, command);
    return decideAndAdvance(this.#host.clock, plan, this.#run, command);
  }

  async #commit(task: Task, decision: Decision): Promise<void> {
    const next = decision.run;
    const append: RunAppend = {
      key: this.key,
      plan: this.plan,
      before: this.#run,
      decision,
      events: toStoredEvents(decision.events, this.#run.nextSeq),
      expectedOwner: this.#owner,
      head: headOf(this.plan, next, this.#host.epoch, this.#isBusy(next)),
      snapshotSeq: this.#snapshotSeq,
    };
    const answer = resultOf(task, append, this.#host.now());
    const { call } = task;
    const own = [...appendWrites(append, this.#host), ...taskWrites(task, append, answer, this.#host)];
    const writes = call ? [...call.writes, ...own] : own;
    let result: CommitResult;
    this.#enter({ name: 'writing' });
    try {
      result = await this.#host.pipeline.commit(writes);
    } catch (error) {
      return failInstead(task, error, this.#tasks, 'commit');
    } finally {
      this.#enter({ name: 'working' });
    }
    if (!result.won && call && result.write < call.writes.length) return call.lost(result);
    if (!result.won) return this.#lose(task, result.reason);
    this.#run = next;
    this.#owner = append.head.owner;
    if (needsSnapshot(append)) this.#snapshotSeq = next.nextSeq;
    this.#host.hub.publish(this.key, append.events);
    task.resolve?.(answer);
    if (task.children) this.#host.opened(takenChildren(task.children, next));
    this.#host.committed(writes);
    this.#follow();
  }

  async #lose(task: Task, reason: LossReason): Promise<void> {
    if (reason === 'exists') {
      if (task.mail) await this.#discard(task.mail, task.replyId, { kind: 'duplicate' });
      task.resolve?.({ kind: 'duplicate' });
      return;
    }
    const error = new StaleRunError(this.key.runId);
    task.reject?.(error);
    throw error;
  }

  /** More commands wait, or running work may finish while the run is paused. */
  #isBusy(run: Run): boolean {
    return this.#tasks.length > 0 || this.#pauses.isHolding || (isDraining(run) && this.#outside.size > 0);
  }

  /** Starts the work that the committed run needs and stops work that it no longer needs. */
  #follow(): void {
    if (this.isGone) return;
    this.#startChildren();
    this.#outside.follow(executions(this.plan, this.#run), isDraining(this.#run));
  }

  #startChildren(): void {
    const requests = childRequests(this.plan, this.#run);
    for (const [id, wanted] of Map.groupBy(requests, ({ nodeId, visit }) => `${nodeId}\0${visit}`)) {
      if (this.#preparing.has(id)) continue;
      this.#preparing.add(id);
      const { nodeId, visit } = wanted[0]!;
      this.#host.prepareChildren(this.plan, this.#run, wanted).then(
        (children) => {
          if (this.isGone) return;
          const command = { type: 'childrenStarted', now: this.#host.now(), nodeId, visit } as const;
          this.#enqueue({ command: { ...command, starts: children.starts }, children });
        },
        (error: unknown) => this.#host.lost(this, error),
      );
    }
  }

  #rest(): void {
    if (this.isGone) return;
    const at = this.#pauses.earlier(wakeAt(this.plan, this.#run), this.#host.now());
    if (this.#owner === null) {
      this.#enter({ name: 'gone' });
      this.#host.parked(this, at ?? null);
      return;
    }
    this.#follow();
    if (!isOutside(this.plan, this.#run) && !this.#isBusy(this.#run)) {
      void this.#release();
    } else if (at !== undefined) {
      const delayMs = Math.max(0, Math.min(at - this.#host.now(), LOOK_EVERY_MS));
      const cancelTimer = this.#host.clock.after(delayMs, () => this.wake());
      this.#enter({ name: 'resting', cancelTimer });
    }
  }

  /** Changes the owner without an event, for example to keep the run while a pause waits for its nodes. */
  async #passTo(owner: number | null, ...more: Write[]): Promise<void> {
    const { won } = await this.#host.pipeline.commit([this.#unchanged(owner), ...more]);
    if (!won) throw new StaleRunError(this.key.runId);
    this.#owner = owner;
  }

  /** Claimed, but there was nothing to do: release the run without an event. */
  async #release(): Promise<void> {
    this.#enter({ name: 'working' });
    try {
      await this.#passTo(null);
    } catch (error) {
      return this.#host.lost(this, error);
    } finally {
      this.#enter({ name: 'resting' });
    }
    void this.#work();
  }
}
