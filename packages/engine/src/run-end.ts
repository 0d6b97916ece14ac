import type { JsonObject, RunError } from '@gantry/protocol';
import { copyInto, isTooLarge, tooLarge } from './json.ts';
import { maskObject } from './mask.ts';
import type { PlanNode } from './plan.ts';
import { durationOf, emit, emitNode, type Step } from './step.ts';

export function failRun(step: Step, error: RunError, failedNodeId?: string): void {
  cancelActive(step, step.plan.order, 'run-failed');
  const payload: JsonObject = { error };
  if (failedNodeId !== undefined) payload.failedNodeId = failedNodeId;
  payload.durationMs = durationOf(step);
  emit(step, 'run.failed', payload);
}

export function cancelActive(step: Step, nodes: readonly PlanNode[], reason: string): void {
  for (const node of nodes) {
    const status = step.run.nodes[node.id]?.status;
    if (status === 'running' || status === 'retrying')
      emitNode(step, node.id, 'node.cancelled', { nodeId: node.id, reason });
  }
}

/** The outputs of a run are those of the nodes that nothing follows, later ones over earlier ones. */
export function completeRun(step: Step): void {
  const { plan, run } = step;
  const outputs: JsonObject = {};
  const shown: JsonObject = {};
  let sealed = false;
  for (const node of plan.order) {
    const state = run.nodes[node.id];
    if (node.outgoing.length > 0 || state?.status !== 'completed') continue;
    const masked = maskOutputs(step, node, state.outputs);
    sealed ||= masked !== state.outputs;
    copyInto(outputs, state.outputs);
    copyInto(shown, masked);
  }
  if (isTooLarge(outputs)) {
    failRun(step, tooLarge('The outputs of the run'));
    return;
  }
  const payload = { outputs: shown, durationMs: durationOf(step) };
  emit(step, 'run.completed', payload, sealed ? { outputs } : undefined);
}

export function maskOutputs(step: Step, node: PlanNode, outputs: JsonObject): JsonObject {
  if (node.sensitiveOutputs.size === 0) return outputs;
  return maskObject(outputs, (key) => node.sensitiveOutputs.has(key), step.plan.mask);
}
