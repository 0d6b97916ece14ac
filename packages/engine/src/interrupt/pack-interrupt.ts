/** Converts requests of `ctx.suspend` to interrupts of the protocol. */
import { given, type JsonObject } from '@gantry/protocol';
import { objectAt, textAt } from '../payload.ts';
import type { InterruptRequest } from './interrupt.ts';
import { approvalData, decisionWords } from './pack-approval.ts';
import { isAsking, questionsOf, wordOf } from './pack-request.ts';

/** `request` comes from the pack, in either dialect; `key` is the key under which it reads the answer. */
export interface PackSuspension {
  readonly key: string;
  readonly request: JsonObject;
  /**
   * Continues with the next envelope of that kind. `seen` is the number of envelopes of the run when the node
   * looked for one.
   */
  readonly awaits?: { readonly envelopeType: string; readonly seen: number };
}

/** The node that asks. Gates that show their subject on a card only do not repeat it in the request. */
export interface AskingNode {
  readonly nodeId: string;
  readonly config: JsonObject;
  readonly inputs: JsonObject;
}

/** A year, as for interrupts that workflows define. */
const TIMEOUT_MS_MAX = 366 * 86_400_000;

export function packInterrupt(
  { key, request, awaits }: PackSuspension,
  asking: AskingNode,
  now: number,
): InterruptRequest {
  const { envelopeType } = awaits ?? {};
  const { memo: how, ...interrupt }: InterruptRequest =
    envelopeType === undefined
      ? requestedBy(request, asking)
      : { kind: 'external-event', data: { eventType: 'envelope', correlation: { envelopeType } } };
  const memo = { ...how, ...given({ packKey: key, envelopeType }) };
  return { ...interrupt, memo, ...given({ timeoutMs: timeoutOf(request, now) }) };
}

function requestedBy(request: JsonObject, asking: AskingNode): InterruptRequest {
  const word = wordOf(request);
  if (word === 'approval')
    return {
      kind: 'approval',
      data: approvalData(request, asking),
      memo: { decisions: decisionWords(request) },
    };
  if (word === 'webhook')
    return { kind: 'external-event', data: { eventType: 'webhook', correlation: request } };
  if (word === 'clarification' && isAsking(request)) {
    const { questions, isListed } = questionsOf(request);
    return { kind: 'clarification', data: { questions }, ...(isListed && { memo: { isListed } }) };
  }
  const resumeSchema = objectAt(request, 'answerSchema') ?? schemaOf(request);
  return {
    kind: 'custom',
    data: customData(request),
    ...(word === 'conversation-input' && { reason: word }),
    ...(resumeSchema && { resumeSchema }),
  };
}

const text = { type: 'string', maxLength: 16_384 };

/** A reviewer's answer, and one to a proposal, for requests that bring no schema: a person sees what to fill in. */
function schemaOf(request: JsonObject): JsonObject | undefined {
  const word = wordOf(request);
  if (word === 'conversation-input' && request.reviewerRole !== undefined)
    return {
      type: 'object',
      required: ['decision'],
      properties: { decision: { enum: ['approve', 'reject', 'request-changes'] }, notes: text },
    };
  if (word !== 'low-confidence') return;
  return {
    type: 'object',
    required: ['approved'],
    properties: { approved: { type: 'boolean' }, approvedAgentInstanceId: text, rejectedReason: text },
  };
}

const customData = (request: JsonObject): JsonObject => ({
  customKind: textAt(request, 'profile') || wordOf(request) || 'pack',
  payload: request,
});

function timeoutOf(request: JsonObject, now: number): number | undefined {
  const ms = wishedMs(request, now);
  return ms === undefined || Number.isNaN(ms)
    ? undefined
    : Math.min(TIMEOUT_MS_MAX, Math.max(0, Math.ceil(ms)));
}

function wishedMs(request: JsonObject, now: number): number | undefined {
  const { timeoutMs, deadlineSeconds, seconds, timestamp } = request;
  const word = wordOf(request);
  if (word === 'duration') return Number(seconds ?? 0) * 1_000;
  if (word === 'until')
    return new Date(typeof timestamp === 'number' ? timestamp : String(timestamp)).getTime() - now;
  if (typeof timeoutMs === 'number') return timeoutMs;
  return typeof deadlineSeconds === 'number' ? deadlineSeconds * 1_000 : undefined;
}
