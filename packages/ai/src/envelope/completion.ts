/**
 * Decides after each answer to a request for structured output: done, repeat with a reason, or give up.
 *
 * I1  After a cut-off answer, the same request is sent with a higher output limit. After a wrong answer, it is sent
 *     with the same limit and a correction worded by the host. A refusal is never repeated.
 * I2  At most `attemptsMax` requests, and one more if all answers were prose.
 */
import { type EmittedEvent, given, type Json, type JsonObject, NESTING_MAX } from '@gantry/protocol';
import type { Fault } from './document.ts';
import type { Recovered } from './recover.ts';

export interface CompletionLimits {
  readonly attemptsMax: number;
  readonly truncationMultiplier: number;
  /** The output limit of the model; a cut there is final. */
  readonly outputMax: number;
}

export interface Asked {
  readonly attempt: number;
  readonly maxOutputTokens: number;
  /** Sent to the model in addition to the original request. */
  readonly correction?: string;
  /** The last request, after answers of prose only. */
  readonly isCoercion?: true;
  /** Whether every answer so far was prose. */
  readonly onlyProse: boolean;
}

export type AnswerFinish = 'stop' | 'length' | 'stop_sequence' | 'refusal';

export interface Answered {
  readonly finish: AnswerFinish;
  readonly text: string;
  readonly outputTokens?: number;
  readonly provider: string;
  readonly model: string;
  readonly recovered: Recovered;
  /** Faults of the recovered value against the schema. */
  readonly faults: readonly Fault[];
}

export type Next =
  | { readonly kind: 'done'; readonly value: Json; readonly events: readonly EmittedEvent[] }
  | { readonly kind: 'ask'; readonly asked: Asked; readonly events: readonly EmittedEvent[] }
  | {
      readonly kind: 'failed';
      readonly code: 'envelope_refusal' | 'envelope_invalid' | 'envelope_truncation_unrecoverable';
      readonly details: JsonObject;
      readonly events: readonly EmittedEvent[];
    };

export const firstAsk = (maxOutputTokens: number): Asked => ({
  attempt: 1,
  maxOutputTokens,
  onlyProse: true,
});

export interface Structured {
  readonly nodeId: string;
  readonly envelopeType: string;
  readonly limits: CompletionLimits;
}

export function afterAnswer(call: Structured, asked: Asked, answer: Answered): Next {
  const { nodeId } = call;
  const { recovered, finish, provider, model } = answer;
  if (finish === 'refusal') return refused(nodeId, answer);
  if (recovered.ok && answer.faults.length === 0 && finish !== 'length') {
    const { path, byteOffset } = recovered;
    const events =
      path === 'direct' ? [] : [event('envelope.recovery.applied', { nodeId, path, byteOffset })];
    return { kind: 'done', value: recovered.value, events };
  }
  if (finish !== 'length') return wrong(call, asked, answer);
  const cut = event('envelope.truncated', {
    nodeId,
    provider,
    model,
    stopReason: 'max_tokens',
    partialPayloadAvailable: answer.text.length > 0,
    ...given({ outputTokenCount: answer.outputTokens }),
  });
  return truncated(call, asked, cut);
}

const event = (type: EmittedEvent['type'], payload: JsonObject): EmittedEvent => ({ type, payload });

function refused(nodeId: string, { provider, model, text }: Answered): Next {
  const refusal = { nodeId, provider, model, ...(text !== '' && { refusalText: text }) };
  return {
    kind: 'failed',
    code: 'envelope_refusal',
    details: { nodeId },
    events: [event('envelope.refusal', refusal)],
  };
}

function truncated({ nodeId, limits }: Structured, asked: Asked, cut: EmittedEvent): Next {
  const { attempt, maxOutputTokens } = asked;
  const isFull = maxOutputTokens >= limits.outputMax;
  if (attempt >= limits.attemptsMax || isFull)
    return exhausted(nodeId, attempt, 'truncation', limits.attemptsMax, [cut]);
  const more = Math.min(limits.outputMax, Math.ceil(maxOutputTokens * limits.truncationMultiplier));
  return {
    kind: 'ask',
    asked: { attempt: attempt + 1, maxOutputTokens: more, onlyProse: false },
    events: [cut, attempted(nodeId, attempt + 1, 'truncation')],
  };
}

type Reason = 'schema-violation' | 'parse-error' | 'truncation';

const attempted = (nodeId: string, attempt: number, reason: Reason): EmittedEvent =>
  event('envelope.retry.attempted', { nodeId, attempt, reason });

function wrong(call: Structured, asked: Asked, { recovered, faults }: Answered): Next {
  const { nodeId, limits, envelopeType } = call;
  const { attempt, maxOutputTokens } = asked;
  const reason: Reason = recovered.ok ? 'schema-violation' : 'parse-error';
  const onlyProse = asked.onlyProse && !recovered.ok && recovered.isProse;
  if (attempt < limits.attemptsMax && !asked.isCoercion) {
    const next = {
      attempt: attempt + 1,
      maxOutputTokens,
      correction: correctionOf(recovered, faults),
      onlyProse,
    };
    return { kind: 'ask', asked: next, events: [attempted(nodeId, attempt + 1, reason)] };
  }
  if (!onlyProse || asked.isCoercion) return exhausted(nodeId, attempt, reason, limits.attemptsMax);
  const engaged = { nodeId, originalEnvelopeType: envelopeType, fallbackCalls: 1 };
  const last = { attempt: attempt + 1, maxOutputTokens, correction: COERCION, onlyProse };
  return {
    kind: 'ask',
    asked: { ...last, isCoercion: true },
    events: [event('envelope.nlToFormat.engaged', engaged)],
  };
}

function exhausted(
  nodeId: string,
  totalAttempts: number,
  finalReason: Reason,
  limit: number,
  before: readonly EmittedEvent[] = [],
): Next {
  const isCut = finalReason === 'truncation';
  return {
    kind: 'failed',
    code: isCut ? 'envelope_truncation_unrecoverable' : 'envelope_invalid',
    details: { nodeId, totalAttempts },
    events: [
      ...before,
      event('envelope.retry.exhausted', { nodeId, totalAttempts, finalReason }),
      event('cap.breached', { kind: 'schema', limit, observed: limit + 1, nodeId }),
    ],
  };
}

const COERCION =
  'Answer with one JSON value that matches the schema, and with nothing else: no explanation, no fence.';

/** Worded by the host: the model's own output is not sent back to it. */
function correctionOf(recovered: Recovered, faults: readonly Fault[]): string {
  const where = faults
    .slice(0, 5)
    .map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
    .join('; ');
  const isTooDeep = !recovered.ok && recovered.isTooDeep;
  const unread = isTooDeep ? `it is nested deeper than ${NESTING_MAX} levels` : 'it is not valid JSON';
  const what = where === '' ? unread : where;
  return `The last answer does not match the schema: ${what}. Answer again with JSON that matches it, and nothing else.`;
}
