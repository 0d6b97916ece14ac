import { emitChain } from '../children/chain.ts';
import { type Child, type ChildStart, isEnded } from '../children/child.ts';
import { awaited } from '../children/requests.ts';
import type { Command } from '../command.ts';
import type { PlanNode } from '../plan.ts';
import { emitCaused, type Step } from '../step.ts';

/**
 * Failures are processed first: one of them may settle the node, and then the others are not started. Without
 * events nothing is created.
 */
export function childrenStarted(step: Step, command: Extract<Command, { type: 'childrenStarted' }>): void {
  const node = step.plan.nodes.get(command.nodeId);
  if (!node || step.run.status !== 'running') return;
  const failures = command.starts.filter((start) => 'error' in start);
  const successes = command.starts.filter((start) => 'childRunId' in start);
  for (const start of [...failures, ...successes]) {
    const child = wanted(step, node, command.visit, start.index);
    if (child) noteStart(step, node, child, start);
  }
}

function wanted(step: Step, node: PlanNode, visit: number, index: number): Child | undefined {
  const entry = awaited(step.run, node.id);
  const child = entry?.visit === visit ? entry.children[index] : undefined;
  return child?.status === 'wanted' ? child : undefined;
}

function noteStart(step: Step, node: PlanNode, child: Child, start: ChildStart): void {
  const { index, workflowId } = child;
  if ('error' in start) {
    emitChain(step, node, child, 'dispatch.failed', { payload: { error: start.error } });
    const ended = awaited(step.run, node.id)?.children[index];
    if (ended && isEnded(ended)) node.behaviour.childEnded?.(step, node, ended);
    return;
  }
  const { childRunId } = start;
  emitCaused(step, awaited(step.run, node.id)?.causeSeq ?? child.chainSeq, {
    type: 'node.dispatched',
    nodeId: node.id,
    payload: { childRunId, childWorkflowId: workflowId, childStatus: 'pending' },
    sealed: { visit: step.run.visits.get(node.id) ?? 1, index },
  });
  const running = awaited(step.run, node.id)?.children[index];
  if (running) emitChain(step, node, running, 'dispatch.succeeded');
}
