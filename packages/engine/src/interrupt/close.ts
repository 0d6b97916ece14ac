import { isoTime, type Json, type JsonObject } from '@gantry/protocol';
import { answerBudget } from '../budget/budget.ts';
import { isObject } from '../json.ts';
import { maskOutputs } from '../mask.ts';
import { completeNode, failNode } from '../node-run.ts';
import { textAt } from '../payload.ts';
import type { PlanNode } from '../plan.ts';
import { emitNode, type Step } from '../step.ts';
import type { Answer } from './interrupt.ts';
import { rejectionError } from './rejection.ts';

/** Closes an answered interrupt, and continues the node with the answer. Called once for each interrupt. */
export function close(step: Step, node: PlanNode, answer: Answer): void {
  const { interrupt, rejected } = answer;
  const { interruptId, kind } = interrupt;
  const shown = rejected === 'timeout' ? undefined : shownValue(step, node, answer.value);
  const resolved: JsonObject = { nodeId: node.id, interruptId, kind, ...given(shown) };
  resolved.resolvedAt = isoTime(step.now);
  resolved.resolvedBy = answer.by;
  if (rejected) resolved.outcome = 'rejected';
  if (rejected === 'timeout') resolved.reason = 'timeout';
  const sealed = rejected === 'timeout' || shown === answer.value ? undefined : { resumeValue: answer.value };
  emitNode(step, node.id, 'interrupt.resolved', resolved, sealed);
  tellByKind(step, node, answer, shown);
  emitNode(step, node.id, 'node.resumed', { nodeId: node.id, interruptId, ...given(shown) });
  settle(step, node, answer);
}

const given = (shown: Json | undefined): JsonObject => (shown === undefined ? {} : { resumeValue: shown });

/** The answer as shown in the log: sensitive outputs are masked here as well. */
function shownValue({ plan }: Step, node: PlanNode, value: Json): Json | undefined {
  if (node.sensitiveOutputs.has('output')) return plan.mask(value);
  return isObject(value) ? maskOutputs(plan, node, value) : value;
}

const RECEIVED = ['comment', 'feedback', 'reason', 'refineFeedback', 'editedArtifactData', 'votes'];

function tellByKind(step: Step, node: PlanNode, answer: Answer, shown: Json | undefined): void {
  const { kind } = answer.interrupt;
  const value = isObject(shown) ? shown : {};
  if (kind === 'approval') {
    const action = answer.rejected === 'timeout' ? 'timeout' : textAt(value, 'action');
    const received: JsonObject = { nodeId: node.id, action, decidedBy: answer.by };
    received.decidedAt = isoTime(step.now);
    for (const name of RECEIVED) if (value[name] !== undefined) received[name] = value[name];
    if (!isObject(received.refineFeedback)) delete received.refineFeedback;
    emitNode(step, node.id, 'approval.received', received);
  } else if (kind === 'clarification' && !answer.rejected) {
    const answers = isObject(value.answers) ? value.answers : {};
    emitNode(step, node.id, 'clarification.resolved', { nodeId: node.id, answers, answeredBy: answer.by });
  }
}

/** Continues a resumed node: with its own handler, else by the kind of the interrupt. */
function settle(step: Step, node: PlanNode, answer: Answer): void {
  if (answerBudget(step, node, answer)) return;
  const { answered } = node.behaviour;
  if (answered) answered(step, node, answer);
  else settleByKind(step, node, answer);
}

export function settleByKind(step: Step, node: PlanNode, answer: Answer): void {
  const { kind } = answer.interrupt;
  // A rejection fails the node, so that nothing after it runs unless an edge handles the failure
  if (answer.rejected) settleRejected(step, node, answer);
  else if (kind === 'approval') completeNode(step, node, approvalOutputs(answer));
  else if (kind === 'clarification' && isObject(answer.value))
    completeNode(step, node, { ...answer.value, answeredBy: answer.by });
  else completeNode(step, node, { output: answer.value, resolvedBy: answer.by });
}

export function approvalOutputs({ value, by }: Answer): JsonObject {
  const fields = isObject(value) ? value : {};
  const action = textAt(fields, 'action');
  return { ...fields, action, approved: action === 'accept' || action === 'edit-accept', decidedBy: by };
}

function settleRejected(step: Step, node: PlanNode, answer: Answer): void {
  const { interrupt, rejected } = answer;
  if (rejected === 'timeout' && interrupt.kind !== 'approval') {
    const message = 'The interrupt timed out.';
    failNode(step, node, { code: 'interrupt_timeout', message, details: { kind: interrupt.kind } }, false);
    return;
  }
  failNode(step, node, rejectionError(node, answer, 'The approval'), false);
}
