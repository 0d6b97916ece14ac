/**
 * Structured output: one call for each request, until the answer fits, is refused, or the attempts are used up.
 *
 * I1  Events that follow from an answer are logged in the commit of the next claim, or with the end of the node: a
 *     repeat after a crash emits nothing twice.
 */
import { afterAnswer, type Fault, firstAsk, recoverJson } from '@gantry/ai';
import type { EmittedEvent, Outcome } from '@gantry/engine';
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { compileUserSchema } from '../workflows/user-schema.ts';
import type { Ai, AskingNode, Chatted } from './ai.ts';
import type { ChatAsk, ChatMessage } from './chat.ts';
import type { CallPlace } from './planned-call.ts';

/** Also advertised: `envelopes.reliability`. */
export const STRUCTURED_LIMITS = { attemptsMax: 3, truncationMultiplier: 2 } as const;
const OUTPUT_TOKENS_DEFAULT = 8_192;
const OUTPUT_TOKENS_MAX = 131_072;

export interface StructuredAsk {
  readonly ask: ChatAsk;
  readonly envelopeType: string;
  /** The faults of an answer. */
  faultsOf(value: Json): readonly Fault[];
  /** The schema that the model is given. */
  readonly sends?: JsonObject;
  /** Emitted before anything is sent. */
  readonly first: readonly EmittedEvent[];
  /** Called with the output limit of each request. */
  onAsked?(maxTokens: number): void;
}

export interface Structured {
  readonly value: Json;
  readonly chatted: Chatted;
  readonly events: readonly EmittedEvent[];
  /** The number of requests made. */
  readonly attempts: number;
}

type Failed = Extract<Outcome, { readonly ok: false }>;

export async function structuredCall(
  ai: Pick<Ai, 'chat'>,
  node: AskingNode,
  place: CallPlace,
  { ask, envelopeType, faultsOf, sends, first, onAsked }: StructuredAsk,
): Promise<Structured | Failed> {
  const call = {
    nodeId: node.nodeId,
    envelopeType,
    limits: { ...STRUCTURED_LIMITS, outputMax: OUTPUT_TOKENS_MAX },
  };
  let asked = firstAsk(ask.maxTokens ?? OUTPUT_TOKENS_DEFAULT);
  for (let told = first; ; ) {
    onAsked?.(asked.maxOutputTokens);
    const at = { ...place, ordinal: place.ordinal + asked.attempt - 1, first: told };
    const chatted = await ai.chat(node, at, {
      ...ask,
      ...(sends && { responseSchema: sends }),
      maxTokens: asked.maxOutputTokens,
      messages: corrected(ask.messages, asked.correction),
    });
    const { text, finish, usage, model } = chatted.answer;
    const recovered = await recoverJson(text);
    const next = afterAnswer(call, asked, {
      finish: finish === 'tool-calls' ? 'stop' : finish,
      text,
      outputTokens: usage.outputTokens,
      provider: chatted.provider,
      model,
      recovered,
      faults: recovered.ok ? faultsOf(recovered.value) : [],
    });
    if (next.kind === 'done')
      return { value: next.value, chatted, events: next.events, attempts: asked.attempt };
    if (next.kind === 'failed') {
      const { code, details, events } = next;
      return {
        ok: false,
        retryable: false,
        error: { code, message: MESSAGES[code], details },
        untold: events,
      };
    }
    ({ asked } = next);
    told = next.events;
  }
}

const MESSAGES = {
  envelope_refusal: 'The model refused to answer.',
  envelope_invalid: 'The model repeatedly answered with a value that does not match the schema.',
  envelope_truncation_unrecoverable: 'The answer of the model was cut off every time.',
} as const;

const corrected = (
  messages: readonly ChatMessage[],
  correction: string | undefined,
): readonly ChatMessage[] =>
  correction === undefined ? messages : [...messages, { role: 'user', content: correction }];

export const nameOf = ({ title, $id }: JsonObject): string => String(title ?? $id ?? 'structured-output');

export function schemaFaults(schema: JsonObject): (value: Json) => readonly Fault[] {
  const check = compileUserSchema(schema);
  if (typeof check !== 'function')
    throw new OpenwopError('response_schema_invalid', { details: { path: '/responseSchema' } });
  return (value) => {
    const misfit = check(value);
    return misfit ? [{ instancePath: misfit.path, message: misfit.message }] : [];
  };
}
