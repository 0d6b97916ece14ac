/** An answer from its parts, as the next turn wants it back. */
import type { JsonObject } from '@gantry/protocol';
import type { EndPart, ReasoningPart, Source, StreamPart, ToolCallPart } from './model.ts';

export interface Answer {
  readonly text: string;
  readonly reasoning: readonly ReasoningPart[];
  readonly toolCalls: readonly ToolCallPart[];
  /** Missing where there was no search. */
  readonly sources?: readonly Source[];
  readonly end: EndPart | undefined;
}

/** Gathers parts while they arrive. A reasoning part with metadata ends its block. */
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
        // What a page was first said to be holds
        for (const source of part.sources)
          this.#sources.set(source.url, { ...source, ...this.#sources.get(source.url) });
        break;
      case 'end':
        this.#end = part;
        break;
    }
  }

  /** What has arrived so far; whole once there is an `end`. */
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
