/** The runtime of one process: creates runs, takes commands, reads. */
import { randomUUID } from 'node:crypto';
import { decide, newRun, type Plan, type Run, type RunLimits, snapshot } from '@gantry/engine';
import { newRunId, OpenwopError, type StoredEvent } from '@gantry/protocol';
import type { CommitGroup, CommitResult, RunKey, Store } from '@gantry/store';
import type { Logger } from 'pino';
import { Claims, type LeaseTerms } from './claims.ts';
import { CommitPipeline } from './commit-pipeline.ts';
import { EventHub } from './event-hub.ts';
import { InvocationLog } from './invocation-log.ts';
import { StaleRunError } from './run-actor.ts';
import { RETRY_AFTER_SECONDS, RunActors } from './run-actors.ts';
import { toRun, toStoredEvents, toStoredFacts } from './run-record.ts';
import type {
  CommandResult,
  CreateResult,
  IdempotencyFor,
  NewRun,
  ReadRun,
  RunCommand,
  Runtime,
} from './runtime.ts';
import { type Executor, sideEffectExecutor } from './side-effect.ts';
import { headOf, stretch } from './stretch.ts';

/** A command can meet the clock, which claims a due run; more than once in a row is another process at work. */
const COMMAND_TRIES_MAX = 3;

export interface RuntimeOptions {
  readonly store: Store;
  readonly dataDir: string;
  readonly planOf: (workflowHash: string) => Promise<Plan>;
  readonly limits: RunLimits;
  readonly inflightCap: number;
  readonly lease: LeaseTerms;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  readonly onLeaseLost: () => void;
}

export class LocalRuntime implements Runtime {
  readonly #options: RuntimeOptions;
  readonly #epoch: number;
  readonly #pipeline: CommitPipeline;
  readonly #hub = new EventHub();
  readonly #actors: RunActors;
  readonly #claims: Claims;
  /** Creates on their way to the disk: they count against the cap before their actor exists. */
  #creating = 0;

  /** Takes the lease that every run of this process will carry. */
  static async open(options: RuntimeOptions): Promise<LocalRuntime> {
    const epoch = await options.store.leases.acquire(randomUUID(), options.now(), options.lease.ttlMs);
    return new LocalRuntime(options, epoch);
  }

  private constructor(options: RuntimeOptions, epoch: number) {
    const { store, now, log, planOf, inflightCap, onLeaseLost } = options;
    this.#options = options;
    this.#epoch = epoch;
    const pipeline = new CommitPipeline(store);
    this.#pipeline = pipeline;
    const executor = executors(options, pipeline);
    this.#actors = new RunActors({
      store,
      planOf,
      log,
      host: { epoch, pipeline, hub: this.#hub, now, executor },
      onWait: (at) => this.#claims.clock.note(at),
    });
    this.#claims = new Claims({
      epoch,
      leases: store.leases,
      terms: options.lease,
      actors: this.#actors,
      inflightCap,
      now,
      log,
      onLeaseLost,
    });
  }

  get inflight(): number {
    return this.#actors.size + this.#creating;
  }

  get inflightCap(): number {
    return this.#options.inflightCap;
  }

  /** Takes over what earlier processes left and starts the clock. Resolves when recovery has begun. */
  start(): Promise<void> {
    return this.#claims.start();
  }

  /** Lets commits under way reach the disk; what is not finished goes on after the next start. */
  async stop(): Promise<void> {
    this.#claims.stop();
    this.#actors.stop();
    await this.#pipeline.drained();
    await this.#options.store.leases.release(this.#epoch);
  }

  async create(request: NewRun, idempotency?: IdempotencyFor<Run>): Promise<CreateResult> {
    this.#checkCapacity();
    const { now, randomBytes, limits } = this.#options;
    const { workflow, scopeId, ...rest } = request;
    const at = now();
    const facts = {
      ...rest,
      runId: newRunId(at, randomBytes),
      workflowId: workflow.record.workflowId,
      workflowHash: workflow.record.hash,
      createdAt: at,
      limits,
    };
    const { plan } = workflow;
    const { events, run } = stretch(plan, decide(plan, newRun(facts), { type: 'start', now: at }), at);
    const stored = toStoredEvents(events, 0);
    const head = headOf(plan, run, this.#epoch, false);
    const storedFacts = toStoredFacts(facts, scopeId ?? null);
    const group: CommitGroup[number][] = [{ kind: 'createRun', facts: storedFacts, head, events: stored }];
    if (idempotency) group.push({ kind: 'idempotency', record: idempotency(run), now: at });
    const result = await this.#commitNew(group);
    if (!result.won) return { kind: 'duplicate' };
    this.#hub.publish(facts.runId, stored);
    if (head.owner !== null) this.#actors.add(plan, run).proceed();
    else if (head.wakeAt !== null) this.#claims.clock.note(head.wakeAt);
    return { kind: 'created', runId: facts.runId, run };
  }

  async command(key: RunKey, command: RunCommand, idempotency?: IdempotencyFor<Run>): Promise<CommandResult> {
    for (let tries = 1; ; tries++) {
      const actor = await this.#actors.open(key);
      if (!actor) return { kind: 'not_found' };
      try {
        return await actor.command({ ...command, now: this.#options.now() }, idempotency);
      } catch (error) {
        if (!(error instanceof StaleRunError) || tries === COMMAND_TRIES_MAX) throw error;
      }
    }
  }

  async read(key: RunKey): Promise<ReadRun | null> {
    const actor = this.#actors.get(key);
    if (actor) return { run: actor.run, plan: actor.plan, snapshot: snapshot(actor.plan, actor.run) };
    const loaded = await this.#options.store.runs.load(key.tenant, key.runId);
    if (!loaded) return null;
    const plan = await this.#options.planOf(loaded.row.workflowHash);
    const run = toRun(loaded);
    return { run, plan, snapshot: snapshot(plan, run) };
  }

  subscribe(runId: string, listener: (events: readonly StoredEvent[]) => void): () => void {
    return this.#hub.subscribe(runId, listener);
  }

  async #commitNew(group: CommitGroup): Promise<CommitResult> {
    this.#creating++;
    try {
      return await this.#pipeline.commit(group);
    } finally {
      this.#creating--;
    }
  }

  #checkCapacity(): void {
    if (this.inflight < this.#options.inflightCap) return;
    throw new OpenwopError('service_unavailable', {
      message: `This host is working on ${this.inflight} runs, its limit. Try again in ${RETRY_AFTER_SECONDS} s.`,
      details: { retryAfter: RETRY_AFTER_SECONDS },
      headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    });
  }
}

/** Node types whose work leaves the process. */
function executors(options: RuntimeOptions, pipeline: CommitPipeline): (typeId: string) => Executor {
  const log = new InvocationLog(pipeline, options.store.records, options.now);
  const byType: Record<string, Executor> = {
    'core.conformance.side-effect': sideEffectExecutor(options.dataDir, log),
  };
  return (typeId) => {
    const found = byType[typeId];
    if (!found) throw new Error(`no executor for ${typeId}`);
    return found;
  };
}
