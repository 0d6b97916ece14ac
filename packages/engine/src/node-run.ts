/** The lifecycle of one node: it starts, then completes, fails, waits, or is skipped. */
import type { JsonObject, RunError } from '@gantry/protocol';
import { handOver, pinOf } from './agent-pin.ts';
import { artifactMisfit, tellArtifacts } from './artifacts/artifact.ts';
import { exhaust, exhaustedBy, tellSpent } from './budget/budget.ts';
import { judgeEdges } from './condition.ts';
import { type ResolvedInputs, resolveInputs } from './inputs.ts';
import { isTooLarge, tooLarge } from './json.ts';
import { enforceNodeExecutions } from './limits.ts';
import { maskOutputs } from './mask.ts';
import type { Result } from './nodes/node-type.ts';
import type { PlanEdge, PlanNode } from './plan.ts';
import { isTaken } from './readiness.ts';
import type { EdgeVerdicts, Run } from './run.ts';
import { cancelActive, completeRun, failRun } from './run-end.ts';
import { emit, emitNode, type Step } from './step.ts';
import { changeVariables, refusalOf, type VariableWrites } from './variable-writes.ts';

/** Starts a pending node, or the next attempt of one that is retrying. */
export function runNode(step: Step, node: PlanNode): void {
  enter(step, node, undefined);
}

export function skipNode(step: Step, node: PlanNode, reason: string): void {
  emitNode(step, node.id, 'node.skipped', { nodeId: node.id, reason });
}

export function followLoop(step: Step, edge: PlanEdge): void {
  const { run } = step;
  const loop = edge.loop!;
  const iterations = (run.loopbacks.get(edge.id) ?? 0) + 1;
  const limit = edge.loopbacksMax;
  if (iterations > limit) {
    emitNode(step, loop.head.id, 'workflow.loopback-limit', { nodeId: loop.head.id, iterations, limit });
    const message = `The loop at ${loop.head.id} was followed ${limit} times, which is its limit.`;
    failRun(
      step,
      { code: 'loop_limit_exceeded', message, details: { iteration: iterations, limit } },
      loop.head.id,
    );
    return;
  }
  cancelActive(step, loop.body, 'loop-followed');
  enter(step, loop.head, edge);
}

function enter(step: Step, node: PlanNode, loopback: PlanEdge | undefined): void {
  if (enforceNodeExecutions(step, node.id)) return;
  const { run } = step;
  const before = run.nodes.get(node.id);
  const retrying = before?.status === 'retrying' ? before : undefined;
  const { resolved, result } = executed(step, node, loopback, retrying?.inputs);
  handOver(step, node);
  emitStarted(step, node, retrying?.attempt ?? 0, resolved, result, loopback);
  if (result.kind === 'completed') completeNode(step, node, result.outputs, result.variables);
  else if (result.kind === 'failed') failNode(step, node, result.error, result.retryable);
  else if (result.kind === 'acts') result.act(step, node);
}

interface Executed {
  readonly resolved: ResolvedInputs;
  readonly result: Result;
}

/** Events are emitted afterwards, so an exception fails the node. The shell would repeat the decision for ever. */
function executed(
  { plan, run }: Step,
  node: PlanNode,
  loopback: PlanEdge | undefined,
  kept: JsonObject | undefined,
): Executed {
  try {
    const resolved: ResolvedInputs = kept ? { ok: true, inputs: kept } : resolveInputs(plan, node, run);
    if (!resolved.ok)
      return { resolved, result: { kind: 'failed', error: resolved.error, retryable: false } };
    const iteration = iterationOf(node, run, loopback);
    return { resolved, result: node.behaviour.execute({ inputs: resolved.inputs, run, iteration }) };
  } catch (cause) {
    const error = { code: 'internal_error', message: `The node failed unexpectedly (${String(cause)}).` };
    return { resolved: { ok: false, error }, result: { kind: 'failed', error, retryable: false } };
  }
}

function iterationOf(node: PlanNode, run: Run, loopback: PlanEdge | undefined): number {
  let iteration = loopback ? 1 : 0;
  for (const edge of node.loopbacksIn) iteration += run.loopbacks.get(edge.id) ?? 0;
  return iteration;
}

function emitStarted(
  step: Step,
  node: PlanNode,
  attempt: number,
  resolved: ResolvedInputs,
  result: Result,
  loopback: PlanEdge | undefined,
): void {
  const payload: JsonObject = { nodeId: node.id, typeId: node.typeId, attempt };
  const visit = (step.run.visits.get(node.id) ?? 0) + (attempt === 0 ? 1 : 0);
  if (visit > 1) payload.visit = visit;
  if (result.kind === 'delayed') payload.dueAt = step.now + result.ms;
  if (node.retry.timeoutMs !== undefined) payload.timeoutAt = step.now + node.retry.timeoutMs;
  if (loopback) payload.loopback = loopbackPayload(loopback);
  const agent = pinOf(node);
  if (agent) payload.agent = agent;
  const kept = resolved.ok && node.keepsInputs ? { inputs: resolved.inputs } : undefined;
  emitNode(step, node.id, 'node.started', payload, kept);
}

function loopbackPayload(edge: PlanEdge): JsonObject {
  const { bodyIds, innerEdgeIds } = edge.loop!;
  const payload: JsonObject = { edgeId: edge.id, resets: [...bodyIds] };
  if (innerEdgeIds.length > 0) payload.innerEdges = [...innerEdgeIds];
  return payload;
}

export function completeNode(
  step: Step,
  node: PlanNode,
  outputs: JsonObject,
  variables?: VariableWrites,
): void {
  const refusal = isTooLarge(outputs)
    ? tooLarge('The outputs of the node')
    : ((variables && refusalOf(step.plan, variables)) ?? artifactMisfit(node, outputs));
  if (refusal) {
    failNode(step, node, refusal, false);
    return;
  }
  if (variables) changeVariables(step, node, variables);
  const verdicts = judgeEdges(step.plan, node, step.run, { status: 'completed', outputs });
  const before = step.run.nodes.get(node.id);
  emitCompleted(step, node, outputs, verdicts.conditions);
  tellArtifacts(step, node, outputs, before);
  if (verdicts.error) failRun(step, verdicts.error, node.id);
}

function emitCompleted(
  step: Step,
  node: PlanNode,
  outputs: JsonObject,
  conditions: EdgeVerdicts | undefined,
): void {
  const state = step.run.nodes.get(node.id);
  const startedAt = state?.status === 'running' ? state.startedAt : step.now;
  const shown = maskOutputs(step.plan, node, outputs);
  const payload: JsonObject = {
    nodeId: node.id,
    outputs: shown,
    durationMs: Math.max(0, step.now - startedAt),
  };
  if (conditions) payload.conditions = conditions;
  emitNode(step, node.id, 'node.completed', payload, shown === outputs ? undefined : { outputs });
}

/** Retries while attempts are left. Else the node fails, and the run too unless an edge handles the failure. */
export function failNode(step: Step, node: PlanNode, error: RunError, retryable: boolean): void {
  const state = step.run.nodes.get(node.id);
  const attempt = state?.status === 'running' ? state.attempt : 0;
  if (retryable && attempt < node.retry.maxRetries) {
    const exhaustion = exhaustedBy(step, 'retries');
    if (exhaustion) {
      exhaust(step, node, exhaustion);
      return;
    }
    const delayMs = backoffOf(node, attempt);
    const payload = { nodeId: node.id, attempt: attempt + 1, delayMs, lastError: error };
    emitNode(step, node.id, 'node.retried', payload);
    tellSpent(step, node, 'retries', step.run.budget?.retries ?? 0);
    return;
  }
  const { conditions } = judgeEdges(step.plan, node, step.run, { status: 'failed', error });
  const payload: JsonObject = { nodeId: node.id, error, attempts: attempt + 1 };
  if (conditions) payload.conditions = conditions;
  emitNode(step, node.id, 'node.failed', payload);
  const settled = step.run.nodes.get(node.id)!;
  if (node.outgoing.some((edge) => edge.handlesFailure && isTaken(edge, settled))) return;
  // The host has started it several times, independent of its own retries
  if (attempt > 0 || error.code === 'invocation_poisoned') deadLetter(step, node, error.code, attempt + 1);
  failRun(step, error, node.id);
}

/** Ends the run with the node; no edge handles the failure. The mark lets a replay end the same way. */
export function terminateNode(step: Step, node: PlanNode, error: RunError): void {
  const state = step.run.nodes.get(node.id);
  const attempts = (state?.status === 'running' ? state.attempt : 0) + 1;
  emitNode(step, node.id, 'node.failed', { nodeId: node.id, error, attempts }, { terminates: true });
  failRun(step, error, node.id);
}

/** The reason is only the code, since messages may contain data of the node. */
function deadLetter(step: Step, node: PlanNode, reason: string, attempts: number): void {
  emit(step, 'run.dead_lettered', { runId: step.run.facts.runId, nodeId: node.id, reason, attempts });
}

function backoffOf(node: PlanNode, attempt: number): number {
  const { backoffMs, backoffFactor, maxBackoffMs } = node.retry;
  return Math.round(Math.min(maxBackoffMs, backoffMs * backoffFactor ** attempt));
}

/** A decision to terminate is final: active nodes are cancelled, and pending nodes are skipped. */
export function terminateRun(step: Step, node: PlanNode, outputs: JsonObject): void {
  completeNode(step, node, outputs);
  if (step.run.status !== 'running') return;
  cancelActive(step, step.plan.order, 'run-terminated');
  for (const other of step.plan.order)
    if (step.run.nodes.get(other.id) === undefined) skipNode(step, other, 'run-terminated');
  completeRun(step);
}
