import type { Json, JsonObject } from '@gantry/protocol';
import { isObject } from '../json.ts';
import { maskOutputs } from '../mask.ts';
import { textAt } from '../payload.ts';
import type { PlanNode } from '../plan.ts';
import { emitNode, type Step } from '../step.ts';
import type { Answer } from './interrupt.ts';
import { settle } from './outcome.ts';

/** The question is answered: it closes, the node goes on with the answer. One of these for each question. */
export function close(step: Step, node: PlanNode, answer: Answer): void {
  const { interrupt, rejected } = answer;
  const { interruptId, kind } = interrupt;
  const shown = rejected === 'timeout' ? undefined : shownValue(step, node, answer.value);
  const resolved: JsonObject = { nodeId: node.id, interruptId, kind, ...given(shown) };
  resolved.resolvedAt = new Date(step.now).toISOString();
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

/** What the log tells of an answer: outputs that the author calls sensitive are masked here as well. */
function shownValue({ plan }: Step, node: PlanNode, value: Json): Json | undefined {
  if (node.sensitiveOutputs.has('output')) return plan.mask(value);
  return isObject(value) ? maskOutputs(plan, node, value) : value;
}

const RECEIVED = ['comment', 'feedback', 'refineFeedback', 'editedArtifactData'];

function tellByKind(step: Step, node: PlanNode, answer: Answer, shown: Json | undefined): void {
  const { kind } = answer.interrupt;
  const value = isObject(shown) ? shown : {};
  if (kind === 'approval') {
    const action = answer.rejected === 'timeout' ? 'timeout' : textAt(value, 'action');
    const received: JsonObject = { nodeId: node.id, action, decidedBy: answer.by };
    received.decidedAt = new Date(step.now).toISOString();
    for (const name of RECEIVED) if (value[name] !== undefined) received[name] = value[name];
    if (!isObject(received.refineFeedback)) delete received.refineFeedback;
    emitNode(step, node.id, 'approval.received', received);
  } else if (kind === 'clarification' && !answer.rejected) {
    const answers = isObject(value.answers) ? value.answers : {};
    emitNode(step, node.id, 'clarification.resolved', { nodeId: node.id, answers, answeredBy: answer.by });
  }
}
