/** What becomes of a node whose question is answered, unless the node has its own way. */
import type { JsonObject } from '@gantry/protocol';
import { answerBudget } from '../budget/budget.ts';
import { isObject } from '../json.ts';
import { completeNode, failNode } from '../node-run.ts';
import { textAt } from '../payload.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import type { Answer } from './interrupt.ts';

/** Goes on with a node that was resumed. */
export function settle(step: Step, node: PlanNode, answer: Answer): void {
  if (answerBudget(step, node, answer)) return;
  const { answered } = node.behaviour;
  if (answered) answered(step, node, answer);
  else settleByKind(step, node, answer);
}

export function settleByKind(step: Step, node: PlanNode, answer: Answer): void {
  const { kind } = answer.interrupt;
  if (kind === 'approval') settleApproval(step, node, answer);
  else if (answer.rejected) settleRejected(step, node, answer);
  else if (kind === 'clarification' && isObject(answer.value))
    completeNode(step, node, { ...answer.value, answeredBy: answer.by });
  else completeNode(step, node, { output: answer.value, resolvedBy: answer.by });
}

/** A rejection fails the node, so that nothing behind it runs unless an `any_failed` edge says so. */
function settleApproval(step: Step, node: PlanNode, answer: Answer): void {
  if (answer.rejected) settleRejected(step, node, answer);
  else completeNode(step, node, approvalOutputs(answer));
}

export function approvalOutputs({ value, by }: Answer): JsonObject {
  const fields = isObject(value) ? value : {};
  const action = textAt(fields, 'action');
  return { ...fields, action, approved: action === 'accept' || action === 'edit-accept', decidedBy: by };
}

function settleRejected(step: Step, node: PlanNode, { interrupt, value, rejected, by }: Answer): void {
  if (rejected === 'timeout' && interrupt.kind !== 'approval') {
    const message = 'The interrupt timed out.';
    failNode(step, node, { code: 'interrupt_timeout', message, details: { kind: interrupt.kind } }, false);
    return;
  }
  const feedback = isObject(value) ? textAt(value, 'feedback') : '';
  const details: JsonObject = { reason: rejected === 'timeout' ? 'timeout' : 'reject', decidedBy: by };
  if (feedback !== '' && !node.sensitiveOutputs.has('feedback')) details.feedback = feedback;
  const message = rejected === 'timeout' ? 'The approval timed out.' : 'The approval was rejected.';
  failNode(step, node, { code: 'approval_rejected', message, details }, false);
}
