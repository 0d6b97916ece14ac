import type { InterruptKind, Json, JsonObject } from '@gantry/protocol';
import type { Command } from '../command.ts';
import { answerApproval } from '../interrupt/approval.ts';
import { asksOverride } from '../interrupt/approval-value.ts';
import { accessRefusal, RESPOND } from '../interrupt/authorize.ts';
import { answerClarification } from '../interrupt/clarification.ts';
import { close } from '../interrupt/close.ts';
import { answerConversation } from '../interrupt/conversation.ts';
import { eventKey, hasTimedOut } from '../interrupt/fold-interrupt.ts';
import { hasExpired, type Interrupt } from '../interrupt/interrupt.ts';
import { answerLowConfidence } from '../interrupt/low-confidence.ts';
import { invalid, schemaRefusal, type TakeAnswer } from '../interrupt/refusal.ts';
import { deepEqual, isObject, own } from '../json.ts';
import type { PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import { emitNode, type Refusal, type Step } from '../step.ts';

type Resolve = Extract<Command, { type: 'resolve' }>;

/** Accepts any JSON. */
const answerAnything: TakeAnswer = (step, node, interrupt, { by, resumeValue }) =>
  void close(step, node, { interrupt, value: resumeValue, by: by.principal });

const ANSWERS: { readonly [Kind in InterruptKind]: TakeAnswer } = {
  approval: answerApproval,
  clarification: answerClarification,
  'external-event': answerExternalEvent,
  custom: answerAnything,
  'conversation.start': answerConversation,
  'conversation.exchange': answerConversation,
  'conversation.close': answerConversation,
  'low-confidence': answerLowConfidence,
};

/**
 * Answers an interrupt. Gives events, or a refusal, or both when the refusal is recorded. Neither means that
 * the same answer was accepted before: the same vote, the same delivery of an event.
 *
 * The order of checks is part of the contract: first whether the interrupt exists, then whether this resolver
 * may answer it, and only then whether the answer is valid.
 */
export function resolve(step: Step, command: Resolve): void {
  if (!command.by.authenticated) step.cause = { contentTrust: 'untrusted' };
  const refusal = answer(step, command);
  if (refusal) step.refusal = refusal;
}

function answer(step: Step, command: Resolve): Refusal | undefined {
  const { plan, run } = step;
  const { nodeId, resumeValue, by } = command;
  const node = plan.nodes.get(nodeId);
  if (!node) return neverAsked;
  const key = eventKey(resumeValue);
  if (key !== undefined && run.heard.get(nodeId) === key) return;
  const interrupt = openFor(run, command);
  if (!interrupt) return closedRefusal(run, command);
  const refusal = waitRefusal(run, interrupt, step.now);
  if (refusal) return refusal;
  const denial = accessRefusal(interrupt, by, asksOverride(resumeValue));
  if (denial) {
    if (interrupt.rules?.governance && by.authenticated) putOnRecord(step, node, interrupt, command, denial);
    return denial;
  }
  const problem =
    (interrupt.resumeSchema && schemaRefusal(step, interrupt.resumeSchema, resumeValue, '')) ??
    ANSWERS[interrupt.kind](step, node, interrupt, command);
  return problem && interrupt.rules?.governance ? inGateWords(problem) : problem;
}

function openFor(run: Run, { nodeId, interruptId }: Resolve): Interrupt | undefined {
  const open = run.interrupts.get(nodeId);
  return interruptId === undefined || open?.interruptId === interruptId ? open : undefined;
}

const neverAsked: Refusal = {
  code: 'interrupt_not_found',
  message: 'This run has no such interrupt.',
};

function closedRefusal(run: Run, { nodeId, resumeValue }: Resolve): Refusal {
  if ((run.asked.get(nodeId) ?? 0) === 0) return neverAsked;
  if (hasTimedOut(run, nodeId)) return expiredRefusal;
  const ended = run.nodes.get(nodeId)?.status === 'cancelled' && !run.interrupts.get(nodeId);
  if (ended && run.cascadedFrom !== undefined)
    return { code: 'interrupt_gone', message: 'The interrupt was cancelled with the parent run.' };
  if (ended && run.status === 'cancelled')
    return { code: 'interrupt_cancelled', message: 'The interrupt was cancelled with its run.' };
  if (ended) return { code: 'run_terminal', message: 'The interrupt ended with its run.' };
  if (isObject(resumeValue) && resumeValue.operation === 'exchange')
    return {
      code: 'validation_error',
      message: 'The conversation is closed.',
      details: { path: '/resumeValue' },
    };
  return { code: 'interrupt_already_resolved', message: 'The interrupt is already resolved.' };
}

function waitRefusal(run: Run, interrupt: Interrupt, now: number): Refusal | undefined {
  if (run.status !== 'running')
    return {
      code: 'conflict',
      message: `The run is ${run.status}; resume it, then answer.`,
      details: { runStatus: run.status },
    };
  return hasExpired(interrupt, now) ? expiredRefusal : undefined;
}

const expiredRefusal: Refusal = { code: 'interrupt_expired', message: 'The interrupt has expired.' };

const DENIED_MAX = 50;

/** Records each principal once, up to a limit: refused principals must not be able to fill the log. */
function putOnRecord(
  step: Step,
  node: PlanNode,
  { denied = [] }: Interrupt,
  { by: { principal } }: Resolve,
  { message }: Refusal,
): void {
  if (denied.includes(principal) || denied.length >= DENIED_MAX) return;
  const resource = step.run.facts.runId;
  const payload: JsonObject = { principal, action: RESPOND, resource, allowed: false, reason: message };
  emitNode(step, node.id, 'authorization.decided', payload);
}

const inGateWords = (refusal: Refusal): Refusal =>
  refusal.code === 'validation_error' ? { ...refusal, code: 'INVALID_RESUME_VALUE' } : refusal;

/** The event must contain every key of the correlation with its value; other content is not checked. */
function answerExternalEvent(
  step: Step,
  node: PlanNode,
  interrupt: Interrupt,
  { by, resumeValue }: Resolve,
): Refusal | undefined {
  if (!isObject(resumeValue)) return invalid('', 'an event must be an object.');
  const correlation = isObject(interrupt.data.correlation) ? interrupt.data.correlation : {};
  const missed = Object.keys(correlation).find(
    (key) => !deepEqual(correlation[key], fieldOf(resumeValue, key)),
  );
  if (missed !== undefined)
    return {
      code: 'correlation_mismatch',
      message: 'The event does not match the correlation of this interrupt, which stays open.',
      details: { path: `/resumeValue/${missed}` },
    };
  close(step, node, { interrupt, value: resumeValue, by: by.principal });
  return;
}

/** Senders put correlation fields at the top level, in `correlation`, or in `eventPayload`. */
function fieldOf(value: JsonObject, key: string): Json | undefined {
  for (const place of [value, value.correlation, value.eventPayload]) {
    const found = isObject(place) ? own(place, key) : undefined;
    if (found !== undefined) return found;
  }
  return;
}
