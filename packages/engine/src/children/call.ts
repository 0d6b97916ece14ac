import { isTooLarge, tooLarge } from '../json.ts';
import { failNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import { openChildren } from './chain.ts';
import type { CalledRun, WorkflowCall } from './child.ts';

/**
 * The answered calls that code of this attempt gets, in the order in which it makes them. A retry repeats the
 * calls up to the first child that did not complete: that one is called again.
 */
export function answeredCalls(calls: readonly CalledRun[], attempt: number): readonly CalledRun[] {
  let answered: CalledRun[] = [];
  let latest = 0;
  for (const call of calls) {
    if (call.attempt !== latest) answered = completedAtFirst(answered);
    latest = call.attempt;
    answered.push(call);
  }
  return latest === attempt ? answered : completedAtFirst(answered);
}

function completedAtFirst(calls: CalledRun[]): CalledRun[] {
  const end = calls.findIndex(({ status }) => status !== 'completed');
  return end === -1 ? calls : calls.slice(0, end);
}

/** Limits calls: code that calls in a loop would never end. */
const CALLS_MAX = 100;

/** Pack code calls a workflow: the node stays running until the child has ended, then its code runs again. */
export function callWorkflow(step: Step, node: PlanNode, { workflowId, inputs }: WorkflowCall): void {
  const state = step.run.nodes.get(node.id);
  const made = state?.status === 'running' ? (state.calls?.length ?? 0) : 0;
  if (isTooLarge(inputs)) failNode(step, node, tooLarge('The inputs of the child'), false);
  else if (made < CALLS_MAX)
    openChildren(step, node, { workers: [workflowId], concurrency: 1, callInputs: inputs });
  else {
    const message = `The node has called ${CALLS_MAX} workflows, which is its limit.`;
    failNode(step, node, { code: 'suspension_limit_exceeded', message }, false);
  }
}
