/** A chat over a model of a library: converts its stream, and turns everything that is not an answer into a failure. */
import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4ProviderTool,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { JsonObject } from '@gantry/protocol';
import {
  type ChatModel,
  type Finish,
  ModelFailure,
  type ModelRequest,
  type Reach,
  type StreamPart,
  type ToolCallPart,
  type Usage,
} from '../model.ts';
import { isCount, jsonOfModel, reportedName } from '../reported.ts';
import type { WireEnd } from './answer-events.ts';
import { failureOfPart } from './failure.ts';
import { callOptions, namesIn } from './prompt.ts';
import { sourcesIn } from './sources.ts';
import { type ToolNames, toolNames } from './tool-names.ts';
import { asked, type Transport, transportOf } from './transport.ts';

export interface ChatFamily {
  readonly end: WireEnd;
  model(id: string, reach: Reach, fetch: typeof globalThis.fetch): LanguageModelV4;
  options?(request: ModelRequest): SharedV4ProviderOptions;
  /** How the provider's own web search is requested. */
  search?(sites: readonly string[]): Pick<LanguageModelV4ProviderTool, 'id' | 'args'>;
}

export function chatModel(family: ChatFamily): ChatModel {
  return {
    async *stream(request, reach) {
      const transport = transportOf(reach, { end: family.end });
      const names = toolNames(namesIn(request));
      const model = family.model(request.model, reach, transport.fetch);
      const options = callOptions(request, names, family.options?.(request) ?? {});
      const search = request.search && family.search?.(request.search.sites);
      const tools = search && { tools: [{ type: 'provider', name: 'web_search', ...search } as const] };
      transport.silence.begin();
      try {
        const { stream } = await asked(reach, transport, () =>
          model.doStream({ ...options, ...tools, abortSignal: reach.signal }),
        );
        yield* partsOf(stream, new Reading(request, names), reach, transport);
      } finally {
        transport.silence.end();
      }
    },
  };
}

async function* partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  reading: Reading,
  reach: Reach,
  transport: Transport,
): AsyncGenerator<StreamPart> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await asked(reach, transport, () => reader.read());
      if (done) throw early();
      reach.signal.throwIfAborted();
      // Comments, empty pieces and metadata are silence; so is not the time that the reader of the parts takes
      const parts = read(reading, value, transport);
      if (parts.length > 0) transport.silence.end();
      for (const part of parts) {
        yield part;
        if (part.type === 'end') return;
      }
      if (parts.length > 0) transport.silence.begin();
    }
  } finally {
    // Closes the connection if the reader stops early; after the end it has no effect
    void reader.cancel().catch(() => {});
  }
}

/** A failure on the wire is more precise than the library's error for it. */
function read(
  reading: Reading,
  part: LanguageModelV4StreamPart,
  transport: Transport,
): readonly StreamPart[] {
  try {
    return reading.take(part);
  } catch (error) {
    throw transport.failed() ?? error;
  }
}

const early = () => new ModelFailure('broken', 'The answer of the provider ended early.');

/** Longer answers than were asked for are taken up to this, since some servers ignore the limit. */
const ANSWER_CHARS_MIN = 256 * 1024;
const ANSWER_CHARS_MAX = 8 * 1024 * 1024;
const CHARS_PER_TOKEN_MAX = 32;
/** No tokenizer has longer tokens in a whole text. */
const TOKEN_CHARS_MAX = 64;

/** The state of one answer while it is read. */
class Reading {
  readonly #names: ToolNames;
  readonly #thoughts = new Map<string, JsonObject>();
  #model: string;
  #hasContent = false;
  #calls = 0;
  #chars = 0;
  readonly #charsMax: number;

  constructor({ model, maxOutputTokens }: ModelRequest, names: ToolNames) {
    this.#model = model;
    this.#names = names;
    const asked = Math.max(ANSWER_CHARS_MIN, maxOutputTokens * CHARS_PER_TOKEN_MAX);
    this.#charsMax = Math.min(ANSWER_CHARS_MAX, asked);
  }

  take(part: LanguageModelV4StreamPart): readonly StreamPart[] {
    const sources = sourcesIn(part);
    const told = this.#told(part);
    for (const each of told) if ('text' in each) this.#chars += each.text.length;
    if (this.#chars > this.#charsMax)
      throw new ModelFailure('broken', 'The provider sends more than it was asked for.');
    return sources ? [{ type: 'sources', sources }, ...told] : told;
  }

  #told(part: LanguageModelV4StreamPart): readonly StreamPart[] {
    switch (part.type) {
      case 'text-delta':
        this.#hasContent = true;
        return part.delta === '' ? [] : [{ type: 'text', text: part.delta }];
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#thought(part);
      case 'tool-input-delta':
        return part.delta === '' ? [] : [{ type: 'toolInput', text: part.delta }];
      case 'tool-call':
        this.#hasContent = true;
        return part.providerExecuted ? [] : [{ type: 'toolCall', call: this.#call(part) }];
      case 'response-metadata':
        this.#model = reportedName(part.modelId) ?? this.#model;
        return [];
      case 'error':
        throw failureOfPart(part.error);
      case 'finish': {
        const finish = this.#finish(part.finishReason);
        const usage = usageOf(part.usage, this.#chars);
        return [{ type: 'end', finish, model: this.#model, ...(usage && { usage }) }];
      }
      default:
        return [];
    }
  }

  /** Metadata that must be returned with a thought can be in any of its parts; it is reported with its end. */
  #thought(part: LanguageModelV4StreamPart & { type: `reasoning-${string}` }): readonly StreamPart[] {
    const { id, providerMetadata } = part as { id: string; providerMetadata?: JsonObject };
    const before = this.#thoughts.get(id) ?? {};
    const metadata = providerMetadata ? merged(before, providerMetadata) : before;
    this.#thoughts.set(id, metadata);
    if (part.type === 'reasoning-delta')
      return part.delta === '' ? [] : [{ type: 'reasoning', text: part.delta }];
    if (part.type === 'reasoning-start') return [];
    this.#thoughts.delete(id);
    return Object.keys(metadata).length === 0 ? [] : [{ type: 'reasoning', text: '', metadata }];
  }

  #call(part: LanguageModelV4StreamPart & { type: 'tool-call' }): ToolCallPart {
    this.#calls++;
    const { toolCallId, toolName, input, providerMetadata } = part;
    return {
      id: toolCallId || `call_${this.#calls}`,
      name: this.#names.fromWire(toolName),
      ...argumentsOf(input),
      ...(providerMetadata && { metadata: providerMetadata as JsonObject }),
    };
  }

  #finish({ unified, raw }: LanguageModelV4FinishReason): Finish {
    switch (unified) {
      case 'stop':
        // Some servers report a turn with tool calls as a plain stop
        return this.#calls > 0 ? 'tool-calls' : 'stop';
      case 'length':
      case 'tool-calls':
        return unified;
      case 'content-filter':
        return 'refusal';
      case 'other':
        if (raw !== undefined && this.#hasContent) return this.#calls > 0 ? 'tool-calls' : 'stop';
        throw early();
      case 'error':
      case 'interrupted':
        throw early();
    }
  }
}

function argumentsOf(input: string): Pick<ToolCallPart, 'arguments' | 'broken'> {
  if (input.trim() === '') return { arguments: {} };
  const value = jsonOfModel(input);
  return value === undefined ? { arguments: null, broken: input } : { arguments: value };
}

/** One count that cannot be, such as more cached tokens than tokens, makes all of them doubtful. */
function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage, chars: number): Usage | undefined {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return undefined;
  const counts = [...Object.values(inputTokens), ...Object.values(outputTokens)];
  if (!counts.every((count) => count === undefined || isCount(count))) return undefined;
  // Servers that do not count tokens send zeros where their dialect requires numbers; libraries do where one is missing
  if (inputTokens.total === 0 || outputTokens.total * TOKEN_CHARS_MAX < chars) return undefined;
  return {
    inputTokens: inputTokens.total,
    outputTokens: outputTokens.total,
    ...(inputTokens.cacheRead && { cacheReadTokens: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite && { cacheWriteTokens: inputTokens.cacheWrite }),
  };
}

/** Merges two levels: provider, then member. */
function merged(before: JsonObject, more: JsonObject): JsonObject {
  const all = { ...before };
  for (const [provider, members] of Object.entries(more))
    all[provider] = { ...(all[provider] as JsonObject | undefined), ...(members as JsonObject) };
  return all;
}
