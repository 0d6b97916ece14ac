/** Nodes under way of which the source's log tells nothing more. */
import { ERRORS } from '@gantry/protocol';
import { completeNode, failNode, runNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import { isActive, type NodeState, type Run } from '../run.ts';
import type { Step } from '../step.ts';

/** Whether the source has left this execution of the node behind, so that a record can never come. */
export function isPast(source: Run, run: Run, nodeId: string): boolean {
  const [theirs = 0, ours = 1] = [source.visits.get(nodeId), run.visits.get(nodeId)];
  if (theirs !== ours) return theirs > ours;
  const there = source.nodes.get(nodeId);
  return !(isActive(there) && attemptOf(there) === attemptOf(run.nodes.get(nodeId)));
}

const attemptOf = (state: NodeState | undefined): number | undefined =>
  state && 'attempt' in state ? state.attempt : undefined;

/** When time alone moves the node on. */
export const dueOf = (state: NodeState): number | undefined =>
  state.status === 'retrying' ? state.retryAt : state.status === 'running' ? state.dueAt : undefined;

/** Time passes in a replay too; but nothing outside is ever asked for what is missing. */
export function settleUnrecorded(step: Step, node: PlanNode, state: NodeState): void {
  if (state.status === 'retrying') runNode(step, node);
  else if (dueOf(state) !== undefined) completeNode(step, node, {});
  else {
    const { message } = ERRORS.replay_source_missing;
    failNode(step, node, { code: 'replay_source_missing', message }, false);
  }
}
