import type { InterruptKind, Json, JsonObject, RunEvent } from '@gantry/protocol';
import type { Draft } from '../apply.ts';
import { isObject, isReservedName } from '../json.ts';
import { numberAt, objectAt, textAt } from '../payload.ts';
import type { Run } from '../run.ts';
import { type Answer, type AnswerRules, BY_TIMEOUT, type Interrupt, type Vote } from './interrupt.ts';
import { packAnswer } from './pack-answer.ts';

export function foldInterrupt(run: Draft, event: RunEvent, payload: JsonObject): void {
  const nodeId = textAt(payload, 'nodeId') || textAt(payload, 'gateId') || (event.nodeId ?? '');
  if (nodeId === '' || isReservedName(nodeId)) return;
  switch (event.type) {
    case 'interrupt.requested':
      open(run, nodeId, event, payload);
      break;
    case 'interrupt.resolved':
      hear(run, nodeId, event, payload);
      if (payload.resolvedBy === BY_TIMEOUT)
        run.timedOut = run.timedOut.with(nodeId, run.asked.get(nodeId) ?? 0);
      keepAnswer(run, nodeId, event);
      closeInterrupt(run, nodeId);
      break;
    case 'authorization.decided':
      deny(run, nodeId, payload);
      break;
    case 'approval.granted':
    case 'approval.rejected':
    case 'approval.overridden':
      vote(run, nodeId, event, payload);
      break;
    case 'conversation.opened':
    case 'conversation.exchanged':
      turn(run, nodeId, payload);
      break;
    case 'conversation.closed':
      endTurns(run, nodeId);
      break;
  }
}

function open(run: Draft, nodeId: string, event: RunEvent, payload: JsonObject): void {
  const resumeSchema = objectAt(payload, 'resumeSchema');
  const memo = objectAt(event.sealed, 'memo');
  const rules = objectAt(event.sealed, 'rules');
  const interrupt: Interrupt = {
    interruptId: textAt(payload, 'interruptId'),
    key: textAt(payload, 'key'),
    kind: textAt(payload, 'kind') as InterruptKind,
    data: objectAt(payload, 'data') ?? {},
    requestedAt: event.at,
    suspendedSeq: run.nextSeq - 2,
    votes: [],
    ...(typeof payload.timeoutMs === 'number' && { expiresAt: event.at + payload.timeoutMs }),
    ...(resumeSchema && { resumeSchema }),
    ...(memo && { memo }),
    ...(rules && { rules: rules as AnswerRules }),
  };
  run.interrupts = run.interrupts.with(nodeId, interrupt);
  run.asked = run.asked.with(nodeId, (run.asked.get(nodeId) ?? 0) + 1);
}

/** The answer to an interrupt of pack code is kept with the node, which is called again with it. */
function keepAnswer(run: Draft, nodeId: string, event: RunEvent): void {
  const interrupt = run.interrupts.get(nodeId);
  const state = run.nodes.get(nodeId);
  const packKey = interrupt?.memo?.packKey;
  if (!interrupt || typeof packKey !== 'string' || state?.status !== 'suspended') return;
  const { value, by, rejected } = recordedAnswer(interrupt, event);
  const answer = packAnswer(interrupt, { value, by, at: event.at, rejected });
  run.nodes = run.nodes.with(nodeId, { ...state, answers: { ...state.answers, [packKey]: answer } });
}

/** Whether the latest interrupt of the node expired. */
export const hasTimedOut = ({ timedOut, asked }: Pick<Run, 'timedOut' | 'asked'>, nodeId: string): boolean =>
  timedOut.get(nodeId) !== undefined && timedOut.get(nodeId) === asked.get(nodeId);

export function closeInterrupt(run: Draft, nodeId: string): void {
  if (run.interrupts.get(nodeId)) run.interrupts = run.interrupts.with(nodeId, undefined);
}

function change(run: Draft, nodeId: string, next: (open: Interrupt) => Interrupt): void {
  const open = run.interrupts.get(nodeId);
  if (open) run.interrupts = run.interrupts.with(nodeId, next(open));
}

function vote(run: Draft, nodeId: string, { type, sealed }: RunEvent, payload: JsonObject): void {
  const voter = textAt(payload, 'principal');
  const comment = textAt(sealed ?? {}, 'comment');
  const cast: Vote = {
    voter,
    approve: type !== 'approval.rejected',
    ...(comment !== '' && { comment }),
    ...(type === 'approval.overridden' && { overrides: true }),
  };
  change(run, nodeId, (open) => ({
    ...open,
    votes: [...open.votes.filter((earlier) => earlier.voter !== voter), cast],
  }));
}

function turn(run: Draft, nodeId: string, payload: JsonObject): void {
  const turnIndex = isObject(payload.initialTurn) ? 0 : numberAt(payload, 'turnIndex', 0);
  change(run, nodeId, (open) => {
    const { conversationId = textAt(payload, 'conversationId'), turns = 0 } = open.conversation ?? {};
    return { ...open, conversation: { conversationId, turns: Math.max(turns, turnIndex + 1) } };
  });
}

function endTurns(run: Draft, nodeId: string): void {
  change(run, nodeId, (open) =>
    open.conversation ? { ...open, conversation: { ...open.conversation, closed: true } } : open,
  );
}

/** A repeated delivery of the same event changes nothing, even when the node has opened another interrupt. */
function hear(run: Draft, nodeId: string, { sealed }: RunEvent, payload: JsonObject): void {
  if (run.interrupts.get(nodeId)?.kind !== 'external-event') return;
  const key = eventKey(isObject(sealed) ? (sealed.resumeValue ?? payload.resumeValue) : payload.resumeValue);
  if (key !== undefined) run.heard = run.heard.with(nodeId, key);
}

function deny(run: Draft, nodeId: string, payload: JsonObject): void {
  if (payload.allowed !== false) return;
  const principal = textAt(payload, 'principal');
  change(run, nodeId, (open) => ({ ...open, denied: [...(open.denied ?? []), principal] }));
}

const EVENT_ID_MAX = 256;

/** Identifies an event, so that repeated deliveries are recognized; undefined when the sender gives it no id. */
export function eventKey(value: Json | undefined): string | undefined {
  if (!isObject(value) || typeof value.eventId !== 'string' || value.eventId.length > EVENT_ID_MAX) return;
  const correlationId =
    typeof value.correlationId === 'string' ? value.correlationId.slice(0, EVENT_ID_MAX) : '';
  return JSON.stringify([correlationId, value.eventId]);
}

/** The answer that an `interrupt.resolved` recorded, for replays. */
export function recordedAnswer(interrupt: Interrupt, { payload, sealed }: RunEvent): Answer {
  const rejected =
    payload.outcome === 'rejected' ? (payload.reason === 'timeout' ? 'timeout' : 'reject') : undefined;
  const value = sealed?.resumeValue ?? payload.resumeValue ?? null;
  return { interrupt, value, by: textAt(payload, 'resolvedBy'), ...(rejected && { rejected }) };
}
