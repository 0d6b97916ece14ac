/**
 * One tick of a heartbeat: a run of its predicate, then the outcome.
 *
 * I1  The predicate's run and `evaluating` are one commit: a tick is evaluated once, and no other evaluation
 *     runs at the same time.
 * I2  The outcome, the new state and the run it enqueues are one commit: a change acts once.
 * I3  Every evaluation ends. The run has a time limit; if its host died, the heartbeat's own due time ends
 *     it.
 */
import { inheritedTrust } from '@gantry/engine';
import { type HeartbeatTick, type JsonObject, type RunOwner, runOwnerOf } from '@gantry/protocol';
import type { Write } from '@gantry/store';
import type { Parts } from '../parts.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { WebhookOutbox } from '../webhooks/outbox.ts';
import { type Admitting, admit, isFinal } from '../workflows/admission.ts';
import { eventsOf } from './event-log.ts';
import {
  type HeartbeatRecord,
  heartbeatTicks,
  nextSequence,
  nextTickAt,
  type StoredHeartbeat,
} from './heartbeat.ts';
import { type Observation, observationOf, transition } from './transition.ts';

/** The variable that gets the state of the previous tick, if the predicate declares it. */
const PRIOR_STATE = 'priorState';

export interface EvaluationOptions extends Pick<Parts, 'changes' | 'now' | 'log'> {
  readonly runtime: Pick<Runtime, 'create' | 'read' | 'command'>;
  readonly workflows: Admitting;
  readonly outbox: Pick<WebhookOutbox, 'writesOf' | 'committed'>;
}

const ownerOf = ({ tenant, workspace, record: { principal } }: StoredHeartbeat): RunOwner =>
  runOwnerOf({ tenant, workspace, principal });

export type Begun =
  | { readonly kind: 'evaluating'; readonly runId: string }
  /** The predicate could not be started; this is the outcome of the tick. */
  | { readonly kind: 'settled'; readonly tick: HeartbeatTick }
  /** Another process was first. */
  | { readonly kind: 'none' };

/** I1. */
export async function begin(
  options: EvaluationOptions,
  stored: StoredHeartbeat,
  inputs: JsonObject = stored.record.inputs,
): Promise<Begun> {
  const { runtime, workflows, now } = options;
  const { id, record } = stored;
  const at = now();
  try {
    const run = await admit(workflows, ownerOf(stored), { workflowId: record.workflowId, inputs });
    const knowsPrior = run.workflow.plan.variables.has(PRIOR_STATE);
    const predicate = {
      ...run,
      inputs: knowsPrior ? { ...inputs, [PRIOR_STATE]: record.seen ?? {} } : inputs,
      configurable: { runTimeoutMs: record.maxRuntimeMs },
      causationId: `${id}@${new Date(at).toISOString()}`,
    };
    const deadline = at + record.maxRuntimeMs;
    const result = await runtime.create(predicate, {
      commit: (writes, { facts: { runId } }) =>
        put(options, stored, { ...record, state: { status: 'evaluating', runId, deadline } }, { writes }),
    });
    return result.kind === 'created' ? { kind: 'evaluating', runId: result.runId } : { kind: 'none' };
  } catch (error) {
    if (!isFinal(error)) throw error;
    const { code, message } = error;
    const observed: Observation = { status: 'error', error: { code, message } };
    const tick = await commit(options, stored, observed, { now: at });
    return tick ? { kind: 'settled', tick } : { kind: 'none' };
  }
}

/** I2. Returns the tick; null if it is still running, or another process was first. */
export async function settle(
  options: EvaluationOptions,
  stored: StoredHeartbeat,
): Promise<HeartbeatTick | null> {
  const { runtime, now } = options;
  const { tenant, record } = stored;
  if (record.state.status !== 'evaluating') return null;
  const { runId, deadline } = record.state;
  const at = now();
  const read = await runtime.read({ tenant, runId });
  let observed = read && observationOf(read.snapshot);
  if (!observed) {
    if (read && at < deadline) return null;
    if (read) await terminate(options, tenant, runId);
    observed = { status: 'timeout' };
  }
  return commit(options, stored, observed, { now: at, runId, ...(read && inheritedTrust(read.run)) });
}

/** I3. */
async function terminate({ runtime, log }: EvaluationOptions, tenant: string, runId: string): Promise<void> {
  try {
    await runtime.command({ tenant, runId }, { type: 'cancel', reason: 'heartbeat evaluation timed out' });
  } catch (error) {
    log.warn(
      { err: error, runId },
      'evaluation past its deadline could not be cancelled; its run timeout ends it',
    );
  }
}

async function commit(
  options: EvaluationOptions,
  stored: StoredHeartbeat,
  observed: Observation,
  {
    contentTrust,
    ...at
  }: { readonly now: number; readonly runId?: string; readonly contentTrust?: 'untrusted' },
): Promise<HeartbeatTick | null> {
  const { id, createdAt, record } = stored;
  const outcome = transition(id, record.seen, observed, { ...at, sequence: nextSequence(record) });
  const { tick, seen } = outcome;
  const tickAt = nextTickAt(createdAt, record.intervalMs, at.now);
  const write = async (lastTick: HeartbeatTick, writes: readonly Write[] = []) => {
    const next: HeartbeatRecord = { ...record, seen, lastTick, state: { status: 'waiting', tickAt } };
    return (await put(options, stored, next, { tick: lastTick, writes })) ? lastTick : null;
  };
  if (!outcome.enqueue || record.enqueue === null) return write(tick);
  let done: HeartbeatTick | null = null;
  try {
    const run = await admit(options.workflows, ownerOf(stored), record.enqueue);
    const triggerData = { source: 'heartbeat', ...tick.stateChanged } as JsonObject;
    const enqueued = {
      ...run,
      causationId: `${id}@${tick.at}`,
      triggerData,
      ...(contentTrust && { contentTrust }),
    };
    await options.runtime.create(enqueued, {
      async commit(writes, { facts: { runId } }) {
        done = await write({ ...tick, enqueuedRunId: runId }, writes);
        return done !== null;
      },
    });
    return done;
  } catch (error) {
    if (!isFinal(error)) throw error;
    const { code, message } = error;
    return write({ ...tick, error: { code, message } });
  }
}

/** False if the heartbeat has changed since it was read. */
async function put(
  { changes, outbox }: EvaluationOptions,
  stored: StoredHeartbeat,
  next: HeartbeatRecord,
  { tick, writes }: { readonly tick?: HeartbeatTick; readonly writes: readonly Write[] },
): Promise<boolean> {
  const { tenant, id: heartbeatId } = stored;
  const told = { tenant, workspaceId: tenant, source: { heartbeatId }, tags: [] };
  const isPut = await changes.settle('heartbeats', stored, next, (change) => {
    if (tick) change.create(heartbeatTicks, tick);
    change.add(...writes, ...(tick ? outbox.writesOf(told, eventsOf(tick)) : []));
  });
  if (isPut && tick) outbox.committed();
  return isPut;
}
