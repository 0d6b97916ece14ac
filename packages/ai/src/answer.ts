/** Assembles an answer from its parts, in the form that the next turn needs. */
import type { JsonObject } from '@gantry/protocol';
import { estimateInput, estimateTokens } from './call/estimate.ts';
import {
  type ChatModel,
  type EndPart,
  type Finish,
  ModelFailure,
  type ModelRequest,
  type Reach,
  type ReasoningPart,
  type Source,
  type StreamPart,
  type ToolCallPart,
  type Usage,
} from './model.ts';

export interface Answer {
  readonly text: string;
  readonly reasoning: readonly ReasoningPart[];
  readonly toolCalls: readonly ToolCallPart[];
  /** Absent if there was no search. */
  readonly sources?: readonly Source[];
  readonly end: EndPart | undefined;
}

/** Collects parts as they arrive. A reasoning part with metadata ends its block. */
export class AnswerParts {
  #text = '';
  #thought = '';
  readonly #reasoning: ReasoningPart[] = [];
  readonly #toolCalls: ToolCallPart[] = [];
  #sources: Map<string, Source> | undefined;
  #end: EndPart | undefined;

  add(part: StreamPart): void {
    switch (part.type) {
      case 'text':
        this.#text += part.text;
        break;
      case 'reasoning':
        this.#thought += part.text;
        if (part.metadata) this.#endThought(part.metadata);
        break;
      case 'toolCall':
        this.#toolCalls.push(part.call);
        break;
      case 'sources':
        this.#sources ??= new Map();
        // The first facts about a page are kept
        for (const source of part.sources)
          this.#sources.set(source.url, { ...source, ...this.#sources.get(source.url) });
        break;
      case 'end':
        this.#end = part;
        break;
    }
  }

  /** The parts so far; complete once there is an `end`. */
  answer(): Answer {
    if (this.#thought !== '') this.#endThought();
    const sources = this.#sources && { sources: [...this.#sources.values()] };
    return {
      text: this.#text,
      reasoning: this.#reasoning,
      toolCalls: this.#toolCalls,
      ...sources,
      end: this.#end,
    };
  }

  #endThought(metadata?: JsonObject): void {
    this.#reasoning.push({ text: this.#thought, ...(metadata && { metadata }) });
    this.#thought = '';
  }
}

/** @example await answerOf(model.stream(request, reach)) */
export async function answerOf(stream: AsyncIterable<StreamPart>): Promise<Answer> {
  const parts = new AnswerParts();
  for await (const part of stream) parts.add(part);
  return parts.answer();
}

/** The recorded form. */
export interface ModelAnswer {
  readonly text: string;
  readonly finish: Finish;
  readonly usage: Usage;
  /** The model that answered, as reported by the provider. */
  readonly model: string;
  readonly toolCalls?: readonly ToolCallPart[];
  readonly reasoning?: readonly ReasoningPart[];
}

/** Gets what an answer consists of as it arrives. */
export interface Heard {
  /** The next part is read when it resolves. */
  text(piece: string): Promise<unknown> | undefined;
  /** Thoughts, and arguments of tool calls. */
  other(piece: string): void;
}

/** Reads one attempt to its end. Throws `ModelFailure` or the abort reason. */
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
    if (part.type === 'text') await heard.text(part.text);
    else if (part.type === 'reasoning' || part.type === 'toolInput') heard.other(part.text);
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

/** For a provider that reports no usage, or an attempt that was cut off. */
export const estimatedUsage = (request: Omit<ModelRequest, 'model'>, said: string): Usage => ({
  inputTokens: estimateInput(request),
  outputTokens: estimateTokens(said),
  estimated: true,
});
