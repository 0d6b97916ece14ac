/** The runtime of one process: creates runs, executes commands, reads runs. */
import { type Execution, type Plan, type RunLimits, snapshot } from '@gantry/engine';
import type { Turns } from '@gantry/limiter';
import { type JsonObject, newId, type StoredEvent } from '@gantry/protocol';
import type { StartingRun } from '@gantry/resources';
import type { CommitPipeline, RunKey, Store, Write } from '@gantry/store';
import type { Logger } from 'pino';
import { redactingPlans } from '../redaction/redacting-plan.ts';
import type { Redactions } from '../redaction/redactions.ts';
import { prepareChildren } from './children.ts';
import { Claims, type LeaseTerms } from './claims.ts';
import { type RuntimeInputs, systemClock } from './clock.ts';
import type { CommandRecord } from './command-answer.ts';
import { EventHub } from './event-hub.ts';
import { InvocationLog } from './invocation-log.ts';
import { Mailbox } from './mailbox.ts';
import { type OpenedRun, type Opening, openRun, startRun } from './opened-run.ts';
import type { Executor } from './outside-work.ts';
import type { PoisonGuard } from './poison.ts';
import { Remote } from './remote.ts';
import { isReply } from './reply.ts';
import { RunActors } from './run-actors.ts';
import { OwnedElsewhereError, RETRY_AFTER_SECONDS, StaleRunError, unavailable } from './run-errors.ts';
import { continueRunIds, nextRunId } from './run-id.ts';
import { toRun } from './run-record.ts';
import type {
  CommandResult,
  CreateOptions,
  CreateResult,
  NewRun,
  Outbox,
  PreparedRun,
  ReadRun,
  RunCommand,
  Runtime,
  Workflows,
} from './runtime.ts';
import { sideEffectExecutor } from './side-effect.ts';
import { failingRepeated } from './unexpected-errors.ts';

/** How long a command that loses to other changes of its run is decided again. */
const COMMAND_MS_MAX = 2_000;
const COMMAND_AGAIN_MS_MAX = 100;

export interface RuntimeOptions extends RuntimeInputs {
  readonly store: Store;
  readonly pipeline: CommitPipeline;
  readonly dataDir: string;
  readonly planOf: (workflowHash: string) => Promise<Plan>;
  /** Child workflows. */
  readonly resolve: Workflows['resolve'];
  readonly outbox: Outbox;
  /** Runs nodes whose code is a pack's. */
  readonly packExecutor: (log: InvocationLog) => Executor;
  /** Executors of node types that need other services of the host. */
  readonly executors?: Readonly<Record<string, Executor>>;
  readonly limits: RunLimits;
  readonly inflightCap: number;
  /** Taken before a run is decided or folded: both may take long. */
  readonly turns: Turns;
  readonly redactions: Redactions;
  readonly lease: LeaseTerms;
  readonly log: Logger;
  readonly onLeaseLost: () => void;
  readonly poison: PoisonGuard;
}

export class LocalRuntime implements Runtime {
  readonly #options: RuntimeOptions;
  readonly #opening: Opening;
  readonly #pipeline: CommitPipeline;
  readonly #hub: EventHub;
  readonly #actors: RunActors;
  readonly #mailbox: Mailbox;
  readonly #remote: Remote;
  readonly #claims: Claims;
  /** Creates that are being committed: they count against the cap before their actor exists. */
  #creating = 0;

  /** Acquires the lease under which this process owns its runs. */
  static async open(options: RuntimeOptions): Promise<LocalRuntime> {
    const { store, now, randomBytes, lease } = options;
    const epoch = await store.leases.acquire(newId('host', now(), randomBytes), now(), lease.ttlMs);
    continueRunIds(now, await store.runs.highestId());
    return new LocalRuntime(options, epoch);
  }

  private constructor(options: RuntimeOptions, epoch: number) {
    const { store, now, clock = systemClock, log, randomBytes, outbox, inflightCap, onLeaseLost } = options;
    this.#options = options;
    this.#hub = new EventHub((key, { payload }) => log.warn(failureOf(key, payload), 'run failed'));
    const inputs = { now, clock, randomBytes };
    this.#opening = { epoch, outbox, redacting: redactingPlans(options.redactions), ...inputs };
    this.#pipeline = options.pipeline;
    this.#actors = this.#createActors();
    const pipeline = this.#pipeline;
    const actors = this.#actors;
    this.#mailbox = new Mailbox({ entries: store.entries, actors, pipeline, now, log });
    const mailbox = this.#mailbox;
    this.#remote = new Remote({ ...inputs, store, pipeline, hub: this.#hub, mailbox, log });
    this.#claims = new Claims({
      epoch,
      leases: store.leases,
      terms: options.lease,
      actors,
      inflightCap,
      now,
      clock,
      log,
      onLeaseLost,
      onTakeOver: (keys) => options.poison.takenOver(keys),
      sweepMail: (olderThanMs) => mailbox.sweep(olderThanMs),
    });
  }

  #createActors(): RunActors {
    const { store, planOf, log, resolve } = this.#options;
    const opening = this.#opening;
    return new RunActors({
      store,
      planOf,
      secretsKnown: (tenant) => this.#options.redactions.ready(tenant),
      log,
      host: {
        ...opening,
        pipeline: this.#pipeline,
        turns: this.#options.turns,
        hub: this.#hub,
        executor: executors(this.#options, this.#pipeline),
        prepareChildren: (plan, parent, requests) =>
          prepareChildren({ opening, resolve }, { plan, run: parent }, requests),
        committed: (writes) => this.#committed(writes),
        opened: (children) => {
          for (const child of children) this.#goOn(child);
        },
      },
      onWait: (at) => this.#claims.clock.note(at),
      onReadAgain: (key) => this.#mailbox.collect(key),
    });
  }

  get inflight(): number {
    return this.#actors.size + this.#creating;
  }

  /** Takes over runs of earlier processes and starts the clock. Resolves when recovery has begun. */
  async start(): Promise<void> {
    await this.#remote.start();
    await this.#claims.start();
  }

  /** Waits for pending commits; unfinished runs continue after the next start. */
  async stop(): Promise<void> {
    this.#claims.stop();
    await this.#options.poison.stop();
    this.#mailbox.stop();
    this.#actors.stop();
    await this.#remote.stop();
    await this.#pipeline.drained();
    await this.#options.store.leases.release(this.#opening.epoch);
  }

  create(request: NewRun, options: CreateOptions = {}): Promise<CreateResult> {
    const { turns, redactions } = this.#options;
    const { tenant } = request.owner;
    const create = (): Promise<CreateResult> =>
      turns.take(tenant, () =>
        this.#commitNew(() => this.#started(request), request.scopeId ?? null, options),
      );
    return redactions.ready(tenant)?.then(create) ?? create();
  }

  async prepare(from: NewRun | PreparedRun): Promise<StartingRun> {
    this.#checkCapacity();
    if ('owner' in from) await this.#options.redactions.ready(from.owner.tenant);
    const prepared =
      'plan' in from ? from : await this.#options.turns.take(from.owner.tenant, () => this.#started(from));
    const opened = openRun(this.#opening, prepared, ('scopeId' in from && from.scopeId) || null);
    return {
      runId: opened.run.facts.runId,
      writes: opened.writes,
      begun: () => {
        this.#goOn(opened);
        this.#committed(opened.writes);
      },
    };
  }

  #started({ workflow, scopeId: _, advisoryBudget, ...request }: NewRun): PreparedRun {
    const { now, randomBytes } = this.#options;
    const limits = { ...this.#options.limits, ...(advisoryBudget && { advisoryBudget }) };
    const { workflowId, hash: workflowHash } = workflow.record;
    const runId = nextRunId(now, randomBytes);
    const facts = { ...request, runId, workflowId, workflowHash, createdAt: now(), limits };
    return startRun(this.#opening, workflow.plan, facts);
  }

  adopt(prepared: PreparedRun, options: CreateOptions = {}): Promise<CreateResult> {
    return this.#commitNew(() => prepared, null, options);
  }

  async #commitNew(
    prepare: () => PreparedRun,
    scopeId: string | null,
    { idempotency, writes, commit }: CreateOptions,
  ): Promise<CreateResult> {
    this.#checkCapacity();
    const opened = openRun(this.#opening, prepare(), scopeId);
    const { run } = opened;
    const group: Write[] = [...opened.writes];
    if (writes) group.push(...writes(run));
    if (idempotency)
      group.push({
        kind: 'idempotency',
        record: idempotency(run, opened.head.status),
        now: this.#options.now(),
      });
    this.#creating++;
    try {
      const won = commit ? await commit(group, run) : (await this.#pipeline.commit(group)).won;
      if (!won) return { kind: 'duplicate' };
    } finally {
      this.#creating--;
    }
    this.#goOn(opened);
    this.#committed(group);
    return { kind: 'created', runId: run.facts.runId, run };
  }

  /** Continues a run that this process has just created. */
  #goOn({ plan, run, events, head }: OpenedRun): void {
    const { runId, owner } = run.facts;
    this.#hub.publish({ tenant: owner.tenant, runId }, events);
    if (head.owner !== null) this.#actors.add(plan, run).proceed();
    else if (head.wakeAt !== null) this.#claims.clock.note(head.wakeAt);
  }

  #committed(writes: readonly Write[]): void {
    if (!writes.some(({ kind }) => kind === 'putEntry')) return;
    this.#mailbox.post(writes);
    if (writes.some(isReply)) this.#remote.lookForReplies();
    this.#options.outbox.committed();
  }

  async command(key: RunKey, command: RunCommand, record?: CommandRecord): Promise<CommandResult> {
    const { clock, randomBytes } = this.#opening;
    const until = clock.elapsedMs() + COMMAND_MS_MAX;
    for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, COMMAND_AGAIN_MS_MAX)) {
      try {
        const timed = { ...command, now: this.#options.now() };
        const result = await this.#actors.use(key, (actor) => actor.command(timed, record));
        return result ?? { kind: 'not_found' };
      } catch (error) {
        if (error instanceof OwnedElsewhereError) return this.#forward(key, command, record);
        if (!(error instanceof StaleRunError)) throw error;
        if (clock.elapsedMs() > until)
          throw unavailable(
            `Too many concurrent commands for this run; nothing was changed. Try again in ${RETRY_AFTER_SECONDS} s.`,
          );
      }
      // Jitter, so that processes that lost to each other do not collide again.
      const jitterMs = (waitMs * (randomBytes(1)[0] ?? 0)) / 255;
      await new Promise<void>((resolve) => void clock.after(jitterMs, resolve));
    }
  }

  async #forward(key: RunKey, command: RunCommand, record?: CommandRecord): Promise<CommandResult> {
    const reply = await this.#remote.forward(key, command, record);
    if (reply.kind === 'duplicate') return reply;
    const read = await this.read(key);
    return read ? { ...reply, run: read.run, status: read.snapshot.status } : { kind: 'not_found' };
  }

  async read(key: RunKey): Promise<ReadRun | null> {
    const actor = this.#actors.get(key);
    // A reader that has seen an event in the store must not get an earlier state.
    if (actor && !actor.isWriting)
      return { run: actor.run, plan: actor.plan, snapshot: snapshot(actor.plan, actor.run) };
    const loaded = await this.#options.store.runs.load(key.tenant, key.runId);
    if (!loaded) return null;
    const plan = await this.#options.planOf(loaded.row.workflowHash);
    return this.#options.turns.take(key.tenant, () => {
      const run = toRun(loaded);
      return { run, plan, snapshot: snapshot(plan, run) };
    });
  }

  subscribe(key: RunKey, listener: (events: readonly StoredEvent[]) => void): () => void {
    return this.#hub.subscribe(key, listener);
  }

  #checkCapacity(): void {
    if (this.inflight < this.#options.inflightCap) return;
    throw unavailable(
      `This host has ${this.inflight} active runs, its limit. Try again in ${RETRY_AFTER_SECONDS} s.`,
    );
  }
}

/** Executors of node types whose work leaves the process. */
function executors(options: RuntimeOptions, pipeline: CommitPipeline): (execution: Execution) => Executor {
  const log = new InvocationLog(pipeline, options.store.records, options.now, options.randomBytes);
  const byType: Record<string, Executor> = {
    'core.conformance.side-effect': sideEffectExecutor(options.dataDir, log),
    ...options.executors,
  };
  const packs = options.poison.around(options.packExecutor(log));
  return failingRepeated({ pipeline, now: options.now }, ({ typeId, pack }) => {
    if (pack) return packs;
    const found = byType[typeId];
    if (!found) throw new Error(`no executor for ${typeId}`);
    return found;
  });
}

/** For the log: never the message, which may contain data that a node read. */
function failureOf({ tenant, runId }: RunKey, payload: string): JsonObject {
  const { error }: { readonly error?: { readonly code?: string } } = JSON.parse(payload);
  return { tenant, runId, code: error?.code ?? 'unknown' };
}
