/**
 * One tick of a heartbeat: a run of its predicate, then what follows from it.
 *
 * I1  The predicate's run and `evaluating` are one commit: a tick is evaluated once, and while that is under way
 *     there is no other.
 * I2  The outcome, the new state and the run it enqueues are one commit: a change acts once.
 * I3  An evaluation ends. The run carries its time limit; if its host is gone, the heartbeat's own due time ends it.
 */
import type { HeartbeatTick, JsonObject, RunOwner } from '@gantry/protocol';
import { fromEntry } from '@gantry/resources';
import type { Entry, Write } from '@gantry/store';
import type { Parts } from '../parts.ts';
import type { Runtime, Workflows } from '../runtime/runtime.ts';
import type { WebhookOutbox } from '../webhooks/outbox.ts';
import { admit, isFinal } from '../workflows/admission.ts';
import { eventsOf } from './event-log.ts';
import {
  type HeartbeatRecord,
  heartbeats,
  heartbeatTicks,
  nextSequence,
  nextTickAt,
  requestOf,
  type StoredHeartbeat,
} from './heartbeat.ts';
import { type Observation, observationOf, type Transition, transition } from './transition.ts';

/** Variable of the predicate that gets the state of the tick before, where it declares it. */
const PRIOR_STATE = 'priorState';

export interface EvaluationOptions extends Pick<Parts, 'changes' | 'now' | 'log'> {
  readonly runtime: Pick<Runtime, 'create' | 'read' | 'command'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
  readonly outbox: Pick<WebhookOutbox, 'writesOf' | 'committed'>;
}

const ownerOf = ({ tenant, record: { keyId } }: StoredHeartbeat): RunOwner => ({ tenant, principal: keyId });

export type Begun =
  | { readonly kind: 'evaluating'; readonly runId: string }
  /** The predicate could not be started, which is the outcome of this tick. */
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
    const run = await admit(workflows, ownerOf(stored), requestOf(record.workflowId, inputs));
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
    const tick = await commit(
      options,
      stored,
      transition(id, record.seen, observed, { now: at, sequence: nextSequence(record) }),
      at,
    );
    return tick ? { kind: 'settled', tick } : { kind: 'none' };
  }
}

/** I2. Answers the tick; null when it is not over yet, or another process was first. */
export async function settle(options: EvaluationOptions, entry: Entry): Promise<HeartbeatTick | null> {
  const { runtime, now } = options;
  const stored = fromEntry(heartbeats, entry);
  const { tenant, id, record } = stored;
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
  return commit(
    options,
    stored,
    transition(id, record.seen, observed, { now: at, runId, sequence: nextSequence(record) }),
    at,
  );
}

/** I3. */
async function terminate({ runtime, log }: EvaluationOptions, tenant: string, runId: string): Promise<void> {
  try {
    await runtime.command({ tenant, runId }, { type: 'cancel', reason: 'heartbeat evaluation timed out' });
  } catch (error) {
    log.warn(
      { err: error, runId },
      'an evaluation out of time could not be cancelled; its own limit ends it',
    );
  }
}

async function commit(
  options: EvaluationOptions,
  stored: StoredHeartbeat,
  outcome: Transition,
  now: number,
): Promise<HeartbeatTick | null> {
  const { enqueue } = stored.record;
  if (!outcome.enqueue || enqueue === null) return commitTick(options, stored, outcome, outcome.tick, now);
  const { runtime, workflows } = options;
  let done: HeartbeatTick = outcome.tick;
  try {
    const request = requestOf(enqueue.workflowId, enqueue.inputs);
    const run = await admit(workflows, ownerOf(stored), request);
    const causationId = `${stored.id}@${outcome.tick.at}`;
    const result = await runtime.create(
      {
        ...run,
        causationId,
        triggerData: { source: 'heartbeat', ...outcome.tick.stateChanged } as JsonObject,
      },
      {
        async commit(writes, { facts: { runId } }) {
          done = { ...outcome.tick, enqueuedRunId: runId };
          return (await commitTick(options, stored, outcome, done, now, writes)) !== null;
        },
      },
    );
    return result.kind === 'created' ? done : null;
  } catch (error) {
    if (!isFinal(error)) throw error;
    const { code, message } = error;
    return commitTick(options, stored, outcome, { ...outcome.tick, error: { code, message } }, now);
  }
}

async function commitTick(
  options: EvaluationOptions,
  stored: StoredHeartbeat,
  { seen }: Transition,
  tick: HeartbeatTick,
  now: number,
  writes: readonly Write[] = [],
): Promise<HeartbeatTick | null> {
  const { createdAt, record } = stored;
  const tickAt = nextTickAt(createdAt, record.intervalMs, now);
  const next: HeartbeatRecord = { ...record, seen, lastTick: tick, state: { status: 'waiting', tickAt } };
  return (await put(options, stored, next, { tick, writes })) ? tick : null;
}

/** False when the heartbeat has changed since it was read. */
async function put(
  { changes, outbox }: EvaluationOptions,
  stored: StoredHeartbeat,
  next: HeartbeatRecord,
  { tick, writes }: { readonly tick?: HeartbeatTick; readonly writes: readonly Write[] },
): Promise<boolean> {
  const { tenant, id: heartbeatId } = stored;
  const told = { tenant, workspaceId: tenant, source: { heartbeatId }, tags: [] };
  const caller = { kind: 'system', tenant, actor: 'heartbeats' } as const;
  const isPut = await changes.run(caller, async (change) => {
    if (!(await change.replaceUnchanged(stored, next))) return false;
    if (tick) change.create(heartbeatTicks, tick);
    change.add(...writes, ...(tick ? outbox.writesOf(told, eventsOf(tick)) : []));
    return true;
  });
  if (isPut && tick) outbox.committed();
  return isPut;
}
