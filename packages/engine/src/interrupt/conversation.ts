/**
 * Conversations: one interrupt that stays open over many turns.
 *
 * C1 Turns count from 0 without gaps; `conversation.opened` is turn 0.
 * C2 No event of a conversation follows its `conversation.closed`.
 * C3 The timeout applies to the whole conversation, not to a single turn.
 * C4 A turn is emitted only if its channel accepts it; a refused turn changes nothing.
 */
import {
  ConversationAnswer,
  given,
  type Json,
  type JsonObject,
  misfit,
  type TurnRequest,
} from '@gantry/protocol';
import { writeChannelFrom, writeRefusal } from '../channels/write.ts';
import { asJson } from '../json.ts';
import { maskOutputs } from '../mask.ts';
import { failNode } from '../node-run.ts';
import { numberAt, textAt } from '../payload.ts';
import type { PlanNode } from '../plan.ts';
import { emitCaused, emitNode, type Refusal, type Step } from '../step.ts';
import { close } from './close.ts';
import type { Interrupt } from './interrupt.ts';
import { asError, invalid, schemaRefusal, type TakeAnswer } from './refusal.ts';
import { nextKey, suspend } from './suspend.ts';

export interface ConversationRequest {
  readonly prompt: string;
  readonly outcomeSchema?: JsonObject;
  readonly timeoutMs?: number;
  readonly agentId?: string;
  /** The channel that every turn is written to. */
  readonly channel?: string;
  readonly turnsMax: number;
}

type Role = 'user' | 'agent' | 'system';

/** Suspends the node and opens the conversation with its prompt. Returns whether it is open. */
export function openConversation(step: Step, node: PlanNode, request: ConversationRequest): boolean {
  const { prompt, outcomeSchema, timeoutMs, agentId, channel, turnsMax } = request;
  const conversationId = nextKey(step, node);
  const role: Role = agentId === undefined ? 'system' : 'agent';
  const initialTurn = turnOf(step, conversationId, 0, { content: prompt, from: agentId ?? 'system' }, role);
  const refusal = channel === undefined ? undefined : writeRefusal(step, node, channel, initialTurn);
  if (refusal) {
    failNode(step, node, asError(refusal), false);
    return false;
  }
  const { suspendedSeq } = suspend(step, node, {
    kind: 'conversation.exchange',
    data: { conversationId, prompt, ...(outcomeSchema && { outcomeSchema }) },
    reason: 'conversation-input',
    memo: { turnsMax, ...(channel !== undefined && { channel }) },
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  const payload: JsonObject = { conversationId, initialTurn, ...(agentId !== undefined && { agentId }) };
  if (outcomeSchema) payload.schema = outcomeSchema;
  emitCaused(step, suspendedSeq, { type: 'conversation.opened', nodeId: node.id, payload });
  if (channel !== undefined) writeChannelFrom(step, node, channel, initialTurn);
  return true;
}

/** Adds a turn of the caller, or closes the conversation. */
export const answerConversation: TakeAnswer = (step, node, interrupt, { by, resumeValue }) => {
  const problem = misfit(ConversationAnswer, resumeValue);
  if (problem) return invalid(problem.path, `${problem.message}.`);
  const answer = resumeValue as ConversationAnswer;
  const { turns } = stateOf(interrupt);
  if (answer.turn?.turnIndex !== undefined && answer.turn.turnIndex !== turns)
    return invalid('/turn/turnIndex', `the next turn is ${turns}.`);
  const { outcomeSchema } = interrupt.data;
  const outcome = answer.outcome === undefined ? undefined : asJson(answer.outcome);
  const judged = answer.operation === 'close' || outcome !== undefined;
  const refusal =
    judged && outcomeSchema !== undefined
      ? schemaRefusal(step, outcomeSchema, outcome ?? null, '/outcome')
      : undefined;
  if (refusal) return refusal;
  if (answer.operation === 'close') {
    const { turn } = answer;
    return endConversation(step, node, interrupt, { outcome: outcome ?? null, by: by.principal, turn });
  }
  if (!answer.turn) return invalid('/turn', 'an exchange needs a `turn`.');
  if (turns > numberAt(interrupt.memo ?? {}, 'turnsMax', TURNS_MAX))
    return invalid('/operation', 'the conversation has reached its limit of turns; close it.');
  return exchange(step, node, answer.turn, outcome);
};

export const TURNS_MAX = 1_000;

/** Adds a turn, or returns why the channel refuses it. */
export function exchange(step: Step, node: PlanNode, said: TurnRequest, outcome?: Json): Refusal | undefined {
  const interrupt = step.run.interrupts.get(node.id)!;
  const { conversationId, turns: turnIndex } = stateOf(interrupt);
  const turn = turnOf(step, conversationId, turnIndex, said, said.role ?? 'user');
  if (outcome !== undefined) turn.outcome = outcome;
  const channel = channelOf(interrupt);
  const refusal = turnRefusal(step, node, channel, turn);
  if (refusal) return refusal;
  const shown = shownTurn(step, node, channel, turn);
  emitNode(step, node.id, 'conversation.exchanged', { conversationId, turnIndex, turn: shown });
  if (channel !== undefined) writeChannelFrom(step, node, channel, turn);
  return;
}

interface Ending {
  readonly outcome: Json;
  readonly by: string;
  readonly turn?: TurnRequest | undefined;
  readonly timedOut?: true;
}

/** Closes with the caller's final turn, which the channel may refuse, or with one of the host. */
export function endConversation(
  step: Step,
  node: PlanNode,
  interrupt: Interrupt,
  ending: Ending,
): Refusal | undefined {
  const { conversationId, turns: turnIndex } = stateOf(interrupt);
  const { turn, outcome, by, timedOut } = ending;
  const closing = timedOut ? 'The conversation has expired.' : 'The conversation was closed.';
  const finalTurn = turn
    ? turnOf(step, conversationId, turnIndex, turn, turn.role ?? 'user')
    : turnOf(step, conversationId, turnIndex, { content: closing, from: 'system' }, 'system');
  const channel = channelOf(interrupt);
  const refusal = turnRefusal(step, node, channel, finalTurn);
  if (turn && refusal) return refusal;
  const shown = {
    finalTurn: shownTurn(step, node, channel, finalTurn),
    ...shownOutcome(step, node, outcome),
  };
  emitNode(step, node.id, 'conversation.closed', { conversationId, turnIndex, ...shown });
  // A full channel does not keep a conversation open: the final turn of the host is in the event above.
  if (channel !== undefined && !refusal) writeChannelFrom(step, node, channel, finalTurn);
  const value: JsonObject = { conversationId, outcome, turnCount: turnIndex - 1 };
  if (timedOut) value.reason = 'timeout';
  close(step, node, { interrupt: step.run.interrupts.get(node.id)!, value, by });
  return;
}

const channelOf = ({ memo = {} }: Interrupt): string | undefined => textAt(memo, 'channel') || undefined;

/** The folded state; for a conversation that was requested without being opened, the state in its data. */
const stateOf = ({ conversation, data }: Interrupt): { conversationId: string; turns: number } =>
  conversation ?? { conversationId: textAt(data, 'conversationId'), turns: 1 };

function turnOf(
  step: Step,
  conversationId: string,
  turnIndex: number,
  said: TurnRequest,
  role: Role,
): JsonObject {
  const from = said.from ?? (role === 'user' ? 'user' : role);
  return given({
    messageId: said.messageId ?? `${conversationId}:${turnIndex}:${role}`,
    from,
    to: said.to,
    content: asJson(said.content),
    ts: said.ts ?? step.now,
    role,
    turnIndex,
    speakerId: role === 'agent' ? (said.speakerId ?? from) : undefined,
  });
}

function turnRefusal(
  step: Step,
  node: PlanNode,
  channel: string | undefined,
  turn: JsonObject,
): Refusal | undefined {
  const refusal = channel === undefined ? undefined : writeRefusal(step, node, channel, turn);
  return refusal && invalid('/turn', refusal.message);
}

/** A turn as readers see it: masked if its channel or its outcome is sensitive. */
function shownTurn(step: Step, node: PlanNode, channel: string | undefined, turn: JsonObject): JsonObject {
  const { mask, channels } = step.plan;
  const hidden = channel !== undefined && channels.get(channel)?.declaration.sensitive === true;
  const { content, outcome, ...about } = turn;
  if (hidden) return { ...about, content: mask(content!) ?? null };
  return outcome === undefined ? turn : { ...about, content: content!, ...shownOutcome(step, node, outcome) };
}

const shownOutcome = (step: Step, node: PlanNode, outcome: Json): JsonObject =>
  maskOutputs(step.plan, node, { outcome });
