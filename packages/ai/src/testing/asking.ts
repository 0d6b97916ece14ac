/** Asks a family, or a script, and says what came back in a form that can be compared. */
import { randomUUID } from 'node:crypto';
import { AnswerParts } from '../answer.ts';
import { type ChatModel, ModelFailure, type ModelRequest, type Reach, type StreamPart } from '../model.ts';

export const requestOf = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hello' }],
  maxOutputTokens: 256,
  ...more,
});

export const reachOf = (baseUrl: string, more: Partial<Reach> = {}): Reach => ({
  baseUrl,
  // Called from here, so that the watch over sockets sees a test
  fetch: (...request) => fetch(...request),
  signal: new AbortController().signal,
  idempotencyKey: randomUUID(),
  ...more,
});

export interface Outcome {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly object[];
  readonly finish: string;
  readonly usage: unknown;
  readonly model: string | undefined;
  readonly failure: Partial<ModelFailure> | undefined;
}

/** Everything but what differs by nature: ids of calls, and how text is cut into pieces. */
export async function outcomeOf(chat: ChatModel, request: ModelRequest, reach: Reach): Promise<Outcome> {
  const parts = new AnswerParts();
  const seen: StreamPart[] = [];
  let failure: Outcome['failure'];
  try {
    for await (const part of chat.stream(request, reach)) {
      parts.add(part);
      seen.push(part);
    }
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    const { kind, retryAfterMs } = error;
    failure = { kind, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  const { text, reasoning, toolCalls, end } = parts.answer();
  return {
    text,
    reasoning: reasoning.map((part) => part.text).join(''),
    toolCalls: toolCalls.map(({ name, arguments: args, broken }) => ({ name, arguments: args, broken })),
    finish: end?.finish ?? 'none',
    usage: end?.usage,
    model: end?.model,
    failure,
  };
}
