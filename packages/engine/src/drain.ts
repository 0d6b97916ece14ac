import { followLoop, runNode, skipNode } from './node-run.ts';
import type { PlanNode } from './plan.ts';
import { loopToFollow, readinessOf } from './readiness.ts';
import { isActive } from './run.ts';
import { completeRun, failRun } from './run-end.ts';
import type { Step } from './step.ts';

/**
 * Decides nodes until nothing can be decided or about `maxEvents` events are made, then ends the run if all
 * nodes are settled. One pass in drain order is enough for forward edges; exits of loops may need another.
 */
export function drain(step: Step, maxEvents: number): void {
  const going = () => step.run.status === 'running' && step.events.length < maxEvents;
  while (going()) {
    const before = step.events.length;
    pass(step, maxEvents);
    if (!going()) return;
    if (step.events.length > before) continue;
    if (step.plan.order.some((node) => isActive(step.run.nodes.get(node.id)))) return;
    settleRun(step);
  }
}

/** A followed loop restarts the pass at the loop's head, so `maxEvents` also limits loops that never end. */
function pass(step: Step, maxEvents: number): void {
  const { order } = step.plan;
  for (let i = 0; i < order.length; i++) {
    if (step.run.status !== 'running' || step.events.length >= maxEvents) return;
    const node = order[i]!;
    if (step.run.nodes.get(node.id) === undefined) decideNode(step, node);
    const loopback = loopToFollow(node, step.run);
    if (!loopback || step.run.status !== 'running' || step.events.length >= maxEvents) continue;
    followLoop(step, loopback);
    i = loopback.target.index - 1;
  }
}

function decideNode(step: Step, node: PlanNode): void {
  const readiness = readinessOf(node, step.run);
  if (readiness === 'waiting') return;
  if (readiness === 'skip') skipNode(step, node, 'not-triggered');
  else if (node.disabled) skipNode(step, node, 'disabled');
  else runNode(step, node);
}

/** No node can proceed: the run ends. Undecided nodes at this point are a bug. */
function settleRun(step: Step): void {
  const undecided = step.plan.order.filter((node) => step.run.nodes.get(node.id) === undefined);
  if (undecided.length === 0) {
    completeRun(step);
    return;
  }
  failRun(step, {
    code: 'internal_error',
    message: `No node can run, but ${undecided.length} nodes are undecided.`,
    details: { nodeIds: undecided.slice(0, 20).map((node) => node.id) },
  });
}
