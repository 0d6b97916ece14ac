/** Converts requests of `ctx.suspend` to interrupts of the protocol, and answers to the format of packs. */
import { APPROVAL_ACTIONS, given, isoTime, type Json, type JsonObject } from '@gantry/protocol';
import { isObject } from '../json.ts';
import { textAt, textsAt } from '../payload.ts';
import type { Interrupt, InterruptRequest } from './interrupt.ts';

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

const TITLE_MAX = 1_000;
/** A year, as for interrupts that workflows define. */
const TIMEOUT_MS_MAX = 366 * 86_400_000;
const QUORUM_MAX = 1_000;

export function packInterrupt(
  { key, request, awaits }: PackSuspension,
  nodeId: string,
  now: number,
): InterruptRequest {
  const { envelopeType } = awaits ?? {};
  const interrupt: InterruptRequest =
    envelopeType === undefined
      ? requestedBy(request, nodeId)
      : { kind: 'external-event', data: { eventType: 'envelope', correlation: { envelopeType } } };
  const memo = given({ packKey: key, envelopeType });
  return { ...interrupt, ...given({ memo, timeoutMs: timeoutOf(request, now) }) };
}

function requestedBy(request: JsonObject, nodeId: string): InterruptRequest {
  const word = wordOf(request);
  if (word === 'approval') return { kind: 'approval', data: approvalData(request, nodeId) };
  if (word === 'webhook')
    return { kind: 'external-event', data: { eventType: 'webhook', correlation: request } };
  const isChat =
    request.profile === 'openwop-chat' || (request.profile === undefined && !request.answerSchema);
  if (word === 'clarification' && isChat)
    return { kind: 'clarification', data: { questions: questionsOf(request) } };
  return {
    kind: 'custom',
    data: customData(request),
    ...(word === 'conversation-input' && { reason: word }),
    ...(isObject(request.answerSchema) && { resumeSchema: request.answerSchema }),
  };
}

/** The two dialects call it `kind` and `reason`. */
const wordOf = (request: JsonObject): string => textAt(request, 'kind') || textAt(request, 'reason');

const titleOf = (request: JsonObject, fallback: string): string =>
  (textAt(request, 'title') || textAt(request, 'prompt') || fallback).slice(0, TITLE_MAX);

/** A request may list several questions with their own ids. */
function questionsOf(request: JsonObject): Json[] {
  const { questions } = request;
  const isList = Array.isArray(questions) && questions.length > 0;
  return isList && questions.every((each) => isObject(each) && textAt(each, 'id') && textAt(each, 'question'))
    ? questions
    : [questionOf(request)];
}

const questionOf = (request: JsonObject): JsonObject => ({
  id: 'answer',
  question: titleOf(request, 'The node needs an answer.'),
});

const customData = (request: JsonObject): JsonObject => ({
  customKind: textAt(request, 'profile') || wordOf(request) || 'pack',
  payload: request,
});

function approvalData(request: JsonObject, nodeId: string): JsonObject {
  const known: readonly string[] = APPROVAL_ACTIONS;
  const actions = [...new Set(textsAt(request, 'actions').filter((action) => known.includes(action)))];
  const data: JsonObject = {
    artifactId: textAt(request, 'artifactId') || nodeId,
    artifactType: textAt(request, 'artifactType') || 'pack.request',
    title: titleOf(request, 'Approve what the node proposes'),
    actions: actions.length > 0 ? actions : ['accept', 'reject'],
  };
  if (isObject(request.metadata)) data.metadata = request.metadata;
  if (request.artifactData !== undefined) data.artifactData = request.artifactData;
  const approvers = textsAt(request, 'approvers');
  if (approvers.length > 0) data.approversList = [...approvers];
  const quorum = Number(request.quorum);
  const reachable = approvers.length > 0 ? approvers.length : QUORUM_MAX;
  if (Number.isInteger(quorum) && quorum > 1) {
    data.requiredApprovals = Math.min(quorum, reachable);
    data.actions = textsAt(data, 'actions').filter((action) => action !== 'edit-accept');
  }
  return data;
}

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

export interface HeardAnswer {
  readonly value: Json;
  readonly by: string;
  readonly at: number;
  readonly rejected: 'reject' | 'timeout' | undefined;
}

/** The return value of `ctx.suspend(...)`, with the fields that packs of both dialects read. */
export function packAnswer({ kind, data }: Interrupt, { value, by, at, rejected }: HeardAnswer): Json {
  const when = isoTime(at);
  if (rejected === 'timeout')
    return { timedOut: true, decision: 'timeout', approved: false, decidedAt: when };
  const fields = isObject(value) ? value : {};
  if (kind === 'approval') return approvalAnswer(fields, by, when);
  if (kind === 'clarification') {
    const answers = isObject(fields.answers) ? fields.answers : {};
    return { ...fields, answer: answers.answer ?? '', answeredBy: by, answeredAt: when };
  }
  if (data.customKind === 'conversation-input') return { answers: value, respondent: by, submittedAt: when };
  if (!isObject(value)) return value;
  return { respondedBy: by, respondedAt: when, ...value };
}

function approvalAnswer(fields: JsonObject, by: string, when: string): JsonObject {
  const action = textAt(fields, 'action');
  const answer: JsonObject = {
    ...fields,
    decision: action,
    approved: action === 'accept' || action === 'edit-accept',
    decidedBy: by,
    decidedAt: when,
  };
  if (fields.editedArtifactData !== undefined) answer.editedArtifact = fields.editedArtifactData;
  return answer;
}
