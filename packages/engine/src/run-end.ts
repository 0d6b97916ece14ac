import type { JsonObject, RunError } from '@gantry/protocol';
import { copyInto, isTooLarge, tooLarge } from './json.ts';
import { maskOutputs } from './mask.ts';
import { terminationOf } from './orchestrator.ts';
import type { Plan, PlanNode } from './plan.ts';
import { isActive, type Run } from './run.ts';
import { durationOf, emit, emitNode, type Step } from './step.ts';

export function failRun(step: Step, error: RunError, failedNodeId?: string): void {
  cancelActive(step, step.plan.order, 'run-failed');
  const payload: JsonObject = { error };
  if (failedNodeId !== undefined) payload.failedNodeId = failedNodeId;
  payload.durationMs = durationOf(step);
  emit(step, 'run.failed', payload);
}

export function cancelActive(step: Step, nodes: readonly PlanNode[], reason: string): void {
  for (const node of nodes)
    if (isActive(step.run.nodes.get(node.id)))
      emitNode(step, node.id, 'node.cancelled', { nodeId: node.id, reason });
}

export function completeRun(step: Step): void {
  const { outputs, shown } = runOutputs(step.plan, step.run);
  if (isTooLarge(outputs)) {
    failRun(step, tooLarge('The outputs of the run'));
    return;
  }
  const payload = { outputs: shown, durationMs: durationOf(step) };
  emit(step, 'run.completed', payload, shown === outputs ? undefined : { outputs });
}

/**
 * The outputs of a run are those of the nodes without outgoing edges, where later ones override earlier ones,
 * and the termination data of its supervisor. `shown` is the masked form for readers.
 */
export function runOutputs(plan: Plan, run: Run): { outputs: JsonObject; shown: JsonObject } {
  const outputs: JsonObject = {};
  const shown: JsonObject = {};
  let masked = false;
  for (const node of plan.order) {
    const state = run.nodes.get(node.id);
    if (node.outgoing.length > 0 || state?.status !== 'completed') continue;
    const view = maskOutputs(plan, node, state.outputs);
    masked ||= view !== state.outputs;
    copyInto(outputs, state.outputs);
    copyInto(shown, view);
  }
  const end = terminationOf(run);
  copyInto(outputs, end);
  copyInto(shown, end);
  return { outputs, shown: masked ? shown : outputs };
}
