import type { JsonObject } from '@gantry/protocol';
import { completeNode, skipNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import { cancelActive, completeRun } from '../run-end.ts';
import type { Step } from '../step.ts';

/** A decision to terminate is final: what is under way ends, what has not begun never will. */
export function terminateRun(step: Step, node: PlanNode, outputs: JsonObject): void {
  completeNode(step, node, outputs);
  if (step.run.status !== 'running') return;
  cancelActive(step, step.plan.order, 'run-terminated');
  for (const other of step.plan.order)
    if (step.run.nodes.get(other.id) === undefined) skipNode(step, other, 'run-terminated');
  completeRun(step);
}
