/** Wires the parts of the runtime and answers `Runtime` for the API. */
import { randomUUID } from 'node:crypto';
import { type Command, decide, newRun, type Plan, type RunLimits, snapshot } from '@gantry/engine';
import { newRunId, OpenwopError } from '@gantry/protocol';
import type { CommitGroup, RunKey, Store } from '@gantry/store';
import type { Logger } from 'pino';
import { CommitPipeline } from './commit-pipeline.ts';
import { EventHub } from './event-hub.ts';
import { InvocationLog } from './invocation-log.ts';
import { RunActors } from './run-actors.ts';
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
import { WakeClock } from './wake-clock.ts';

/** How many due or orphaned runs are claimed at once. */
const CLAIM_BATCH = 256;
export const RETRY_AFTER_SECONDS = 1;

export interface RuntimeOptions {
  readonly store: Store;
  readonly dataDir: string;
  readonly planOf: (workflowHash: string) => Promise<Plan>;
  readonly limits: RunLimits;
  readonly inflightCap: number;
  readonly lease: { readonly ttlMs: number; readonly renewEveryMs: number | null };
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  /** The lease was lost: another process may own our runs now. */
  readonly onLeaseLost: () => void;
}

export interface RunningRuntime extends Runtime {
  /** Takes over what earlier processes left and starts the clock. Resolves when recovery has begun. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function createRuntime(options: RuntimeOptions): Promise<RunningRuntime> {
  const { store, now, log } = options;
  const epoch = await store.leases.acquire(randomUUID(), now(), options.lease.ttlMs);
  const pipeline = new CommitPipeline(store);
  const hub = new EventHub();
  const invocationLog = new InvocationLog(pipeline, store.records, now);
  const executors: Record<string, Executor> = {
    'core.conformance.side-effect': sideEffectExecutor(options.dataDir, invocationLog),
  };
  const executor = (typeId: string): Executor => {
    const found = executors[typeId];
    if (!found) throw new Error(`no executor for ${typeId}`);
    return found;
  };
  const actors = new RunActors({
    store,
    planOf: options.planOf,
    log,
    host: { epoch, pipeline, hub, now, executor },
    onWait: (at) => clock.note(at),
  });
  const clock = new WakeClock(now, claimDue);
  const keeper = keepLease();
  let stopped = false;

  async function claimDue(): Promise<number | null> {
    for (;;) {
      await actors.below(options.inflightCap);
      if (stopped) return null;
      const due = await store.leases.claimDue(epoch, now(), CLAIM_BATCH);
      await actors.adopt(due);
      if (due.length < CLAIM_BATCH) return store.leases.nextWakeAt();
    }
  }

  async function claimOrphans(): Promise<void> {
    for (;;) {
      await actors.below(options.inflightCap);
      if (stopped) return;
      const orphans = await store.leases.claimOrphans(epoch, now(), CLAIM_BATCH);
      if (orphans.length > 0) log.info({ runs: orphans.length }, 'taking over runs of an earlier process');
      await actors.adopt(orphans);
      if (orphans.length < CLAIM_BATCH) return;
    }
  }

  /** Only stores that several processes share need renewing; there, peers also watch for each other's end. */
  function keepLease(): NodeJS.Timeout | undefined {
    const { renewEveryMs, ttlMs } = options.lease;
    if (renewEveryMs === null) return undefined;
    return setInterval(async () => {
      try {
        if (!(await store.leases.renew(epoch, now(), ttlMs))) options.onLeaseLost();
        else await claimOrphans();
      } catch (error) {
        log.warn({ err: error }, 'the lease could not be renewed');
      }
    }, renewEveryMs);
  }

  function checkCapacity(): void {
    if (actors.size < options.inflightCap) return;
    throw new OpenwopError('service_unavailable', {
      message: `This host is working on ${actors.size} runs, its limit. Try again in ${RETRY_AFTER_SECONDS} s.`,
      details: { retryAfter: RETRY_AFTER_SECONDS },
      headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    });
  }

  async function create(
    request: NewRun,
    idempotency?: IdempotencyFor<ReturnType<typeof newRun>>,
  ): Promise<CreateResult> {
    checkCapacity();
    const { workflow, scopeId, ...rest } = request;
    const at = now();
    const facts = {
      ...rest,
      runId: newRunId(at, options.randomBytes),
      workflowId: workflow.record.workflowId,
      workflowHash: workflow.record.hash,
      createdAt: at,
      limits: options.limits,
    };
    const { events, run } = decide(workflow.plan, newRun(facts), { type: 'start', now: at });
    const stored = toStoredEvents(events, 0);
    const head = { status: run.status, owner: epoch, wakeAt: null, endedAt: null };
    const write = {
      kind: 'createRun',
      facts: toStoredFacts(facts, scopeId ?? null),
      head,
      events: stored,
    } as const;
    const group: CommitGroup = idempotency
      ? [write, { kind: 'idempotency', record: idempotency(run), now: at }]
      : [write];
    const result = await pipeline.commit(group);
    if (!result.won) return { kind: 'duplicate' };
    hub.publish(facts.runId, stored);
    actors.add(workflow.plan, run).proceed();
    return { kind: 'created', runId: facts.runId, run };
  }

  async function command(
    key: RunKey,
    wanted: RunCommand,
    idempotency?: IdempotencyFor<ReturnType<typeof newRun>>,
  ): Promise<CommandResult> {
    const actor = await actors.open(key);
    if (!actor) return { kind: 'not_found' };
    return actor.command({ ...wanted, now: now() } satisfies Command, idempotency);
  }

  async function read(key: RunKey): Promise<ReadRun | null> {
    const actor = actors.get(key);
    if (actor) return { run: actor.run, plan: actor.plan, snapshot: snapshot(actor.plan, actor.run) };
    const loaded = await store.runs.load(key.tenant, key.runId);
    if (!loaded) return null;
    const plan = await options.planOf(loaded.row.workflowHash);
    const run = toRun(loaded);
    return { run, plan, snapshot: snapshot(plan, run) };
  }

  async function start(): Promise<void> {
    void claimOrphans().catch((error) => log.error({ err: error }, 'recovery stopped'));
    const next = await store.leases.nextWakeAt();
    if (next !== null) clock.note(next);
  }

  async function stop(): Promise<void> {
    stopped = true;
    clock.stop();
    clearInterval(keeper);
    await pipeline.drained();
    actors.stop();
    await pipeline.drained();
    await store.leases.release(epoch);
  }

  return {
    create,
    command,
    read,
    start,
    stop,
    subscribe: (runId, listener) => hub.subscribe(runId, listener),
    get inflight() {
      return actors.size;
    },
    inflightCap: options.inflightCap,
  };
}
