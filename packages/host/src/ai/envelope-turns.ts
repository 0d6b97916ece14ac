/**
 * Requests an envelope from a model, in turns, until the payload is complete, a person has to answer, or the limit is
 * reached. Meanwhile the model may send envelopes of the universal kinds, which enter the run.
 *
 * I1  Each request and each envelope has its number in the call: a node that runs again follows their records up to
 *     where it stopped.
 * I2  Claims of a model about itself are not trusted: the host sets the source of an envelope, and a run that holds
 *     untrusted content makes no trusted envelope.
 */
import { hash } from 'node:crypto';
import {
  type AskedEnvelope,
  afterAside,
  type ContentTrust,
  type CounterName,
  completed,
  envelopeIn,
  faultsOfSent,
  type SentEnvelope,
  valuesIn,
} from '@gantry/ai';
import type { EmittedEvent, Outcome as NodeOutcome, PackSuspension } from '@gantry/engine';
import { given, type Json, type JsonObject, type RunError } from '@gantry/protocol';
import type { Redactions } from '../redaction/redactions.ts';
import { type Ai, type AskingNode, type Chatted, nodeCaller } from './ai.ts';
import type { ChatMessage } from './chat.ts';
import { ENVELOPE_LIMITS, type Envelopes, type Received, runReceiver, SCHEMA_VERSIONS } from './envelopes.ts';
import type { CallPlace } from './planned-call.ts';
import { type StructuredAsk, structuredCall } from './structured.ts';

export interface EnvelopeDeps {
  readonly ai: Pick<Ai, 'chat'>;
  readonly envelopes: Pick<Envelopes, 'receive'>;
  readonly redactions: Pick<Redactions, 'of'>;
  readonly now: () => number;
}

export interface EnvelopeAsk
  extends AskedEnvelope,
    Pick<StructuredAsk, 'ask' | 'first' | 'onAsked' | 'sends'> {
  readonly trust: ContentTrust;
  /** Of the requested envelope; the host generates one if missing. */
  readonly correlationId?: string;
  /** The answer of a person to the question with that key. */
  answerOf(key: string): Json | undefined;
}

export type Generated =
  | {
      readonly kind: 'done';
      readonly envelopeType: string;
      readonly payload: Json;
      readonly envelopeId?: string;
      readonly rendering?: JsonObject;
      readonly chatted: Chatted;
      readonly untold: readonly EmittedEvent[];
    }
  | { readonly kind: 'ask'; readonly suspend: PackSuspension; readonly cause: Received['cause'] }
  | {
      readonly kind: 'failed';
      readonly error: RunError;
      readonly untold: readonly EmittedEvent[];
      readonly cause?: NodeOutcome['cause'];
    };

/** Keys of questions that only the host asks. */
export const ENVELOPE_KEY = 'gantry.envelope:';

const TURNS_MAX =
  1 + ENVELOPE_LIMITS.clarificationRounds + ENVELOPE_LIMITS.schemaRounds + ENVELOPE_LIMITS.envelopesPerTurn;

interface Turns {
  readonly node: AskingNode;
  readonly place: CallPlace;
  readonly asked: EnvelopeAsk;
  readonly counts: Record<CounterName, number>;
  readonly messages: ChatMessage[];
  /** Of the next envelope. */
  number: number;
  untold: readonly EmittedEvent[];
}

export async function envelopeTurns(
  deps: EnvelopeDeps,
  node: AskingNode,
  place: CallPlace,
  asked: EnvelopeAsk,
): Promise<Generated> {
  const { ask, first, onAsked, sends, envelopeType } = asked;
  const counts = { clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 0 };
  const turns: Turns = { node, place, asked, counts, messages: [...ask.messages], number: 0, untold: first };
  for (let turn = 0, { ordinal } = place; turn < TURNS_MAX; turn++) {
    const answered = await structuredCall(
      deps.ai,
      node,
      { ...place, ordinal },
      {
        ask: { ...ask, messages: [...turns.messages] },
        first: turns.untold,
        envelopeType,
        faultsOf: (value) => valuesIn(value).flatMap((each) => faultsOfSent(each, asked)),
        ...given({ onAsked, sends }),
      },
    );
    if (!('value' in answered))
      return { kind: 'failed', error: answered.error, untold: answered.untold ?? [] };
    const { chatted, events, attempts } = answered;
    ordinal += attempts;
    turns.untold = events;
    turns.messages.push({ role: 'assistant', content: chatted.answer.text });
    for (const value of valuesIn(answered.value)) {
      const ended = await take(deps, turns, value, chatted);
      if (ended) return ended;
    }
  }
  const message = `The model did not produce a ${envelopeType} within ${TURNS_MAX} turns.`;
  return { kind: 'failed', error: { code: 'envelope_invalid', message }, untold: turns.untold };
}

/** Null: the model continues. */
async function take(
  deps: EnvelopeDeps,
  turns: Turns,
  value: Json,
  chatted: Chatted,
): Promise<Generated | null> {
  const { asked, counts, messages } = turns;
  const { envelopeType, isReceived } = asked;
  const found = envelopeIn(value, asked);
  if (!found && !isReceived)
    return { kind: 'done', envelopeType, payload: value, chatted, untold: turns.untold };
  const sent = found ?? { type: envelopeType, payload: value };
  const { type } = sent;
  const { outcome, cause, ending } = await receive(deps, turns, sent);
  const key = `${ENVELOPE_KEY}${turns.place.series}:${turns.number++}`;
  turns.untold = [];
  if (ending.kind === 'fail') {
    const { code, message, details } = ending;
    return { kind: 'failed', error: { code, message, details }, untold: [], cause };
  }
  counts.envelopesPerTurn++;
  if (ending.kind === 'ask') {
    const answer = asked.answerOf(key);
    const request = { kind: 'clarification', profile: 'openwop-chat', questions: ending.questions };
    if (answer === undefined) return { kind: 'ask', suspend: { key, request }, cause };
    counts.clarificationRounds++;
    counts.envelopesPerTurn = 0;
    messages.push({ role: 'user', content: answersIn(answer) });
    return null;
  }
  if ((type === envelopeType || type === 'error') && outcome.status === 'accepted')
    return doneWith(type, outcome, chatted);
  if (type === 'schema.request') counts.schemaRounds++;
  messages.push({ role: 'user', content: afterAside(sent, asked) });
  return null;
}

function doneWith(
  envelopeType: string,
  {
    envelopeId,
    redactedPayload: payload,
    normalizedMeta,
  }: Extract<Received['outcome'], { status: 'accepted' }>,
  chatted: Chatted,
): Generated {
  const { rendering } = normalizedMeta;
  const hint = rendering && { rendering: { ...rendering } as JsonObject };
  return { kind: 'done', envelopeType, payload, envelopeId, ...hint, chatted, untold: [] };
}

const answersIn = (answer: Json): string => {
  const { answers = answer } = Object(answer) as JsonObject;
  return `Answers to your questions, by their ids: ${JSON.stringify(answers)}`;
};

/** I1, I2. */
function receive(
  { envelopes, redactions, now }: EnvelopeDeps,
  { node, place, asked, counts, number, untold: before }: Turns,
  sent: SentEnvelope,
): Promise<Received> {
  const { owner, runId, nodeId } = node;
  const { trust, envelopeType, correlationId } = asked;
  const caller = nodeCaller(node, place.ordinal, `${place.series}\0envelope\0${number}`);
  const envelopeId = `env_${hash('sha256', caller.call.invocationId, 'hex').slice(0, 32)}`;
  const untrusted = trust === 'untrusted' ? { contentTrust: trust } : {};
  const meta = { ...Object(sent.meta), source: 'ai-generation', ...untrusted };
  const schemaVersion = Object.hasOwn(SCHEMA_VERSIONS, sent.type) ? SCHEMA_VERSIONS[sent.type] : 0;
  const receiver = runReceiver({ envelopeType, counts, trust, redactor: redactions.of(owner.tenant) });
  const key = sent.type === envelopeType && correlationId !== undefined ? { correlationId } : {};
  const document = completed(
    { schemaVersion, ...sent, ...key, meta },
    { runId, nodeId, envelopeId, at: now() },
  );
  return envelopes.receive(caller, document, { runId, nodeId, receiver, before });
}
