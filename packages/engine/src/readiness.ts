import type { Loop, PlanEdge, PlanNode } from './plan.ts';
import type { NodeState, Run } from './run.ts';

export type Readiness = 'waiting' | 'ready' | 'skip';
type EdgeOutcome = 'pending' | 'success' | 'failed' | 'skipped';

/** Whether a node without a state can be decided. */
export function readinessOf(node: PlanNode, run: Run): Readiness {
  const edges = node.incoming;
  if (edges.length === 0) return 'ready';
  let pending = 0;
  let success = 0;
  let failed = 0;
  for (let i = 0; i < edges.length; i++) {
    const outcome = outcomeOf(edges[i]!, run);
    if (outcome === 'pending') {
      if (node.rule === 'all_success' || node.rule === 'all_complete') return 'waiting';
      pending++;
    } else if (outcome === 'success') success++;
    else if (outcome === 'failed') failed++;
  }
  switch (node.rule) {
    case 'all_success':
      return failed === 0 && success > 0 ? 'ready' : 'skip';
    case 'any_success':
      if (success > 0) return 'ready';
      return pending > 0 ? 'waiting' : 'skip';
    case 'all_complete':
      return 'ready';
    case 'none_failed':
      if (failed > 0) return 'skip';
      return pending > 0 ? 'waiting' : 'ready';
    case 'any_failed':
      if (failed > 0) return 'ready';
      return pending > 0 ? 'waiting' : 'skip';
  }
}

/** Whether a settled source's edge was taken: it has no condition, or its condition held. */
export const isTaken = (edge: PlanEdge, state: NodeState): boolean =>
  (state.status === 'completed' || state.status === 'failed') &&
  (edge.condition === undefined || state.conditions?.[edge.id] === true);

/** The back-edge to follow from a completed node; following it makes the node pending again. */
export function loopToFollow(node: PlanNode, run: Run): PlanEdge | undefined {
  if (node.loopbacksOut.length === 0) return;
  const state = run.nodes.get(node.id);
  if (state?.status !== 'completed') return;
  return node.loopbacksOut.find((edge) => isTaken(edge, state));
}

/**
 * An edge out of a loop that was not taken is pending while the loop continues: a later iteration may take it.
 * This cannot deadlock, since no node of a loop depends on its exits.
 */
function outcomeOf(edge: PlanEdge, run: Run): EdgeOutcome {
  const state = run.nodes.get(edge.source.id);
  if (state === undefined) return 'pending';
  if (state.status === 'completed' || state.status === 'failed') {
    if (isTaken(edge, state)) return state.status === 'completed' ? 'success' : 'failed';
  } else if (state.status !== 'skipped') return 'pending';
  if (edge.exits.length > 0 && edge.exits.some((loop) => !isOver(loop, run))) return 'pending';
  return 'skipped';
}

function isOver(loop: Loop, run: Run): boolean {
  return loop.body.every((node) => {
    const status = run.nodes.get(node.id)?.status;
    const settled = status === 'completed' || status === 'failed' || status === 'skipped';
    return settled && !loopToFollow(node, run);
  });
}
