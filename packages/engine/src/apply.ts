/**
 * Folds events into a run. Needs no plan: an event contains everything that the fold needs.
 *
 * I1 Never throws: an unknown or malformed event only advances the sequence.
 * I2 `decide` folds its own events through `foldInto`, so the run that it returns matches the log.
 */
import type { JsonObject, RunEvent } from '@gantry/protocol';
import { foldBudget, foldUsage } from './budget/budget.ts';
import { foldChannel } from './channels/fold-channel.ts';
import { foldChildren, forgetCall, loosenChildren } from './children/fold-children.ts';
import { closeInterrupt, foldInterrupt } from './interrupt/fold-interrupt.ts';
import { isObject } from './json.ts';
import { foldToolCall } from './nodes/pack-events.ts';
import { takeDecision } from './orchestrator.ts';
import { errorAt, numberAt, objectAt, textAt, textsAt } from './payload.ts';
import type { EdgeVerdicts, Kept, NodeState, Run } from './run.ts';
import { bringsUntrusted } from './trust.ts';

/** A run that one `decide` or `fold` owns. Its fields are replaced; their values are shared and never changed. */
export type Draft = { -readonly [Key in keyof Run]: Run[Key] };

export const draftOf = (run: Run): Draft => ({ ...run });

export const apply = (run: Run, event: RunEvent): Run => foldInto(draftOf(run), event);

export function fold(run: Run, events: readonly RunEvent[]): Run {
  const draft = draftOf(run);
  for (const event of events) foldInto(draft, event);
  return draft;
}

/** Events that can make a run fail: the last one before `run.failed` is the cause. */
const CAUSES = new Set(['node.failed', 'cap.breached', 'workflow.loopback-limit']);

export function foldInto(run: Draft, event: RunEvent): Draft {
  run.nextSeq++;
  const payload: unknown = event?.payload;
  if (!isObject(payload) || typeof event.at !== 'number' || typeof event.type !== 'string') return run;
  if (CAUSES.has(event.type)) run.causeSeq = run.nextSeq - 1;
  if (bringsUntrusted(event)) run.contentTrust = 'untrusted';
  foldPart(run, event, payload);
  if (run.nextSeq === run.facts.fork?.fromSeq) foldForkPoint(run, event.at);
  return run;
}

/** Most events are of nodes and of the run itself: these are checked first, without slicing strings. */
function foldPart(run: Draft, event: RunEvent, payload: JsonObject): void {
  const { type } = event;
  if (type.startsWith('node.')) foldNode(run, event, payload);
  else if (type.startsWith('run.')) foldRun(run, event, payload);
  else foldOther(run, event, payload);
}

function foldOther(run: Draft, event: RunEvent, payload: JsonObject): void {
  switch (event.type.slice(0, event.type.indexOf('.'))) {
    case 'interrupt':
    case 'approval':
    case 'conversation':
    case 'authorization':
      foldInterrupt(run, event, payload);
      break;
    case 'core':
    case 'runOrchestrator':
      foldChildren(run, event, payload);
      break;
    case 'channel':
      foldChannel(run, event, payload);
      break;
    case 'log':
      if (event.sealed?.envelope !== undefined) run.envelopes = (run.envelopes ?? 0) + 1;
      break;
    case 'agent':
      foldToolCall(run, event, payload);
      break;
    case 'budget':
      foldBudget(run, event, payload);
      break;
    case 'provider':
      foldUsage(run, payload);
      break;
    case 'artifact':
      foldArtifact(run, event, payload);
      break;
    default:
      foldRun(run, event, payload);
  }
}

function foldArtifact(run: Draft, { type, nodeId }: RunEvent, payload: JsonObject): void {
  if (type !== 'artifact.created') return;
  const version = Number(textAt(payload, 'version')) || 1;
  const visit = run.visits.get(nodeId ?? '') ?? 1;
  run.artifacts = run.artifacts.with(textAt(payload, 'artifactId'), { version, visit });
}

function foldRun(run: Draft, event: RunEvent, payload: JsonObject): void {
  switch (event.type) {
    case 'run.started':
      run.status = 'running';
      run.startedAt = event.at;
      run.variables = objectAt(event.sealed, 'variables') ?? objectAt(payload, 'inputs') ?? {};
      break;
    case 'run.paused':
      run.status = 'paused';
      run.pausedAt = event.at;
      run.drainPolicy = payload.drainPolicy === 'immediate' ? 'immediate' : 'drain-current-node';
      break;
    case 'run.resumed':
      resume(run, event.at);
      break;
    case 'run.completed':
      run.outputs = objectAt(event.sealed, 'outputs') ?? objectAt(payload, 'outputs') ?? {};
      end(run, 'completed', event.at);
      break;
    case 'run.failed':
      run.error = errorAt(payload, 'error');
      if (typeof payload.failedNodeId === 'string') run.failedNodeId = payload.failedNodeId;
      end(run, 'failed', event.at);
      break;
    case 'run.cancelled':
      if (typeof payload.parentRunId === 'string') run.cascadedFrom = payload.parentRunId;
      end(run, 'cancelled', event.at);
      break;
    case 'variable.changed':
      changeVariable(run, event, payload);
      break;
    case 'version.pinned':
      run.versions = { ...run.versions, [textAt(payload, 'changeId')]: numberAt(payload, 'version', 0) };
      break;
  }
}

function end(run: Draft, status: 'completed' | 'failed' | 'cancelled', at: number): void {
  run.status = status;
  run.endedAt = at;
}

/** Time limits of nodes stop while a run is paused; delays and retries keep their due time. */
function resume(run: Draft, at: number): void {
  run.status = 'running';
  const pausedMs = Math.max(0, at - (run.pausedAt ?? at));
  run.pausedMs += pausedMs;
  delete run.pausedAt;
  delete run.drainPolicy;
  shiftTimeouts(run, pausedMs);
}

function shiftTimeouts(run: Draft, ms: number): void {
  for (const [nodeId, state] of run.nodes) {
    if (state.status === 'running' && state.timeoutAt !== undefined)
      run.nodes = run.nodes.with(nodeId, { ...state, timeoutAt: state.timeoutAt + ms });
  }
}

function changeVariable(run: Draft, event: RunEvent, payload: JsonObject): void {
  const name = payload.name;
  const next = isObject(event.sealed) && 'next' in event.sealed ? event.sealed.next : payload.next;
  // Replaced, not mutated: inputs and outputs of nodes may share the object.
  if (typeof name === 'string' && next !== undefined) run.variables = { ...run.variables, [name]: next };
}

function foldNode(run: Draft, event: RunEvent, payload: JsonObject): void {
  const nodeId = payload.nodeId ?? event.nodeId;
  if (typeof nodeId !== 'string') return;
  foldNodeState(run, nodeId, event, payload);
  if (run.nodes.get(nodeId)?.status !== 'suspended') closeInterrupt(run, nodeId);
  keepWaitingClock(run, event);
}

/** The author's time limit stops while a node waits for an answer. */
function keepWaitingClock(run: Draft, event: RunEvent): void {
  if (event.type === 'node.suspended') {
    run.waitingSince ??= event.at;
    return;
  }
  if (run.waitingSince === undefined) return;
  for (const chunk of run.nodes.chunks)
    for (const { value } of chunk) if (value?.status === 'suspended') return;
  run.waitedMs += Math.max(0, event.at - run.waitingSince);
  delete run.waitingSince;
}

function foldNodeState(run: Draft, nodeId: string, event: RunEvent, payload: JsonObject): void {
  switch (event.type) {
    case 'node.started':
      startNode(run, nodeId, event, payload);
      takeDecision(run, nodeId, payload.typeId);
      break;
    case 'node.dispatched':
      foldChildren(run, event, payload);
      return;
    case 'node.suspended':
      suspendNode(run, nodeId, event.at);
      break;
    case 'node.resumed':
      resumeNode(run, nodeId);
      break;
    case 'node.completed':
      run.nodes = run.nodes.with(nodeId, completedState(run, nodeId, event, payload));
      break;
    case 'node.retried':
      if (run.budget) run.budget = { ...run.budget, retries: run.budget.retries + 1 };
      run.nodes = run.nodes.with(nodeId, retryingState(run.nodes.get(nodeId), event.at, payload));
      break;
    case 'node.failed':
      run.nodes = run.nodes.with(nodeId, failedState(event.at, payload));
      break;
    case 'node.skipped':
    case 'node.cancelled':
      run.nodes = run.nodes.with(nodeId, {
        status: event.type === 'node.skipped' ? 'skipped' : 'cancelled',
        endedAt: event.at,
        reason: textAt(payload, 'reason'),
      });
  }
}

function suspendNode(run: Draft, nodeId: string, at: number): void {
  const before = run.nodes.get(nodeId);
  if (before?.status !== 'running') return;
  const { attempt, startedAt } = before;
  run.nodes = run.nodes.with(nodeId, {
    status: 'suspended',
    attempt,
    startedAt,
    suspendedAt: at,
    ...keptOf(before),
  });
}

function resumeNode(run: Draft, nodeId: string): void {
  const before = run.nodes.get(nodeId);
  if (before?.status !== 'suspended') return;
  const { attempt, startedAt } = before;
  run.nodes = run.nodes.with(nodeId, { status: 'running', attempt, startedAt, ...keptOf(before) });
}

const keptOf = ({ inputs, answers, calls }: Kept): Kept => ({
  ...(inputs && { inputs }),
  ...(answers && { answers }),
  ...(calls && { calls }),
});

function startNode(run: Draft, nodeId: string, event: RunEvent, payload: JsonObject): void {
  if (isObject(payload.loopback)) followLoop(run, payload.loopback);
  const state: { -readonly [Key in keyof Running]: Running[Key] } = {
    status: 'running',
    attempt: numberAt(payload, 'attempt', 0),
    startedAt: event.at,
  };
  if (typeof payload.dueAt === 'number') state.dueAt = payload.dueAt;
  if (typeof payload.timeoutAt === 'number') state.timeoutAt = payload.timeoutAt;
  const inputs = objectAt(event.sealed, 'inputs');
  if (inputs) state.inputs = inputs;
  const before = run.nodes.get(nodeId);
  forgetCall(run, nodeId);
  if (before?.status === 'retrying') {
    if (before.answers) state.answers = before.answers;
    if (before.calls) state.calls = before.calls;
  }
  const agent = objectAt(payload, 'agent');
  if (agent) run.agent = agent;
  run.nodes = run.nodes.with(nodeId, state);
  run.visits = run.visits.with(nodeId, numberAt(payload, 'visit', 1));
  run.nodeExecutions++;
}

type Running = Extract<NodeState, { status: 'running' }>;

function followLoop(run: Draft, loopback: JsonObject): void {
  const edgeId = textAt(loopback, 'edgeId');
  run.loopbacks = run.loopbacks.with(edgeId, (run.loopbacks.get(edgeId) ?? 0) + 1);
  for (const nodeId of textsAt(loopback, 'resets')) run.nodes = run.nodes.with(nodeId, undefined);
  for (const inner of textsAt(loopback, 'innerEdges')) run.loopbacks = run.loopbacks.with(inner, undefined);
}

function completedState(run: Draft, nodeId: string, event: RunEvent, payload: JsonObject): NodeState {
  const before = run.nodes.get(nodeId);
  const running = before?.status === 'running' ? before : undefined;
  return withConditions<Extract<NodeState, { status: 'completed' }>>(
    {
      status: 'completed',
      attempt: running?.attempt ?? 0,
      startedAt: running?.startedAt ?? event.at,
      endedAt: event.at,
      outputs: objectAt(event.sealed, 'outputs') ?? objectAt(payload, 'outputs') ?? {},
    },
    payload,
  );
}

function failedState(at: number, payload: JsonObject): NodeState {
  const attempts = numberAt(payload, 'attempts', 1);
  return withConditions<Extract<NodeState, { status: 'failed' }>>(
    { status: 'failed', attempts, endedAt: at, error: errorAt(payload, 'error') },
    payload,
  );
}

function retryingState(before: NodeState | undefined, at: number, payload: JsonObject): NodeState {
  return {
    status: 'retrying',
    attempt: numberAt(payload, 'attempt', 1),
    failedAt: at,
    retryAt: at + numberAt(payload, 'delayMs', 0),
    lastError: errorAt(payload, 'lastError'),
    ...(before?.status === 'running' && keptOf(before)),
  };
}

function withConditions<State extends { readonly conditions?: EdgeVerdicts }>(
  state: State,
  payload: JsonObject,
): State {
  const conditions = objectAt(payload, 'conditions');
  return conditions ? { ...state, conditions: conditions as EdgeVerdicts } : state;
}

/**
 * Called when the last event that a fork shares with its source was folded. From here on a branch has its own time: the
 * time between that event and the fork counts against none of its limits. A replay uses the time of its source.
 */
function foldForkPoint(run: Draft, at: number): void {
  loosenChildren(run);
  if (run.facts.fork?.mode !== 'branch') return;
  const gapMs = Math.max(0, run.facts.createdAt - at);
  shiftInterrupts(run, gapMs);
  // A paused run accounts for the gap when it is resumed.
  if (run.pausedAt !== undefined) return;
  run.pausedMs += gapMs;
  if (run.waitingSince !== undefined) run.waitingSince += gapMs;
  shiftTimeouts(run, gapMs);
}

function shiftInterrupts(run: Draft, gapMs: number): void {
  for (const [nodeId, interrupt] of run.interrupts) {
    if (interrupt.expiresAt === undefined) continue;
    const shifted = { ...interrupt, expiresAt: interrupt.expiresAt + gapMs };
    run.interrupts = run.interrupts.with(nodeId, shifted);
  }
}
