import type { Command } from '../command.ts';
import { completeNode, failNode } from '../node-run.ts';
import type { Step } from '../step.ts';

/** A result for another attempt or visit comes too late, and is not heard. */
export function settle(step: Step, command: Extract<Command, { type: 'settle' }>): void {
  const { plan, run } = step;
  const node = plan.nodes.get(command.nodeId);
  if (run.status !== 'running' || !node?.leavesProcess) return;
  const state = run.nodes[node.id];
  if (state?.status !== 'running' || state.attempt !== command.attempt) return;
  if (run.visits[node.id] !== command.visit) return;
  const { outcome } = command;
  if (outcome.ok) completeNode(step, node, outcome.outputs, outcome.variables);
  else failNode(step, node, outcome.error, outcome.retryable);
}
