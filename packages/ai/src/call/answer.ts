/** One attempt, read to its end. */
import { AnswerParts } from '../answer.ts';
import {
  type ChatModel,
  type Finish,
  ModelFailure,
  type ModelRequest,
  type Reach,
  type ReasoningPart,
  type ToolCallPart,
  type Usage,
} from '../model.ts';
import { estimateInput, estimateTokens } from './estimate.ts';

/** As it is kept on record. */
export interface ModelAnswer {
  readonly text: string;
  readonly finish: Finish;
  readonly usage: Usage;
  /** That answered, by its own word. */
  readonly model: string;
  readonly toolCalls?: readonly ToolCallPart[];
  readonly reasoning?: readonly ReasoningPart[];
}

export interface Heard {
  /** While it arrives. */
  text(text: string): void;
}

/** Throws `ModelFailure`, or the reason of the signal. */
export async function readAnswer(
  model: ChatModel,
  request: ModelRequest,
  reach: Reach,
  heard: Heard,
): Promise<ModelAnswer> {
  const parts = new AnswerParts();
  for await (const part of model.stream(request, reach)) {
    reach.signal.throwIfAborted();
    parts.add(part);
    if (part.type === 'text') heard.text(part.text);
  }
  const { text, reasoning, toolCalls, end } = parts.answer();
  if (!end) throw new ModelFailure('broken', 'The answer of the provider ended early.');
  const said = [text, ...reasoning.map((each) => each.text), JSON.stringify(toolCalls)].join('');
  return {
    text,
    finish: end.finish,
    usage: end.usage ?? estimatedUsage(request, said),
    model: end.model ?? request.model,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reasoning.length > 0 && { reasoning }),
  };
}

/** Of a provider that tells no usage, or an attempt that was cut off. */
export const estimatedUsage = (request: Omit<ModelRequest, 'model'>, said: string): Usage => ({
  inputTokens: estimateInput(request),
  outputTokens: estimateTokens(said),
  estimated: true,
});
