/** Converts a request to the model interface of the libraries. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { given, type JsonObject } from '@gantry/protocol';
import type { ContentPart, Message, ModelRequest } from '../model.ts';
import type { ToolNames } from './tool-names.ts';

export function callOptions(
  request: ModelRequest,
  names: ToolNames,
  providerOptions: SharedV4ProviderOptions,
): LanguageModelV4CallOptions {
  const { tools = [], toolChoice = 'auto', schema, stop = [], reasoning } = request;
  return {
    prompt: marked(
      request.messages.map((message) => promptOf(message, names)),
      request.cacheKey,
    ),
    maxOutputTokens: request.maxOutputTokens,
    providerOptions,
    ...given({ temperature: request.temperature, topP: request.topP, seed: request.seed }),
    ...(stop.length > 0 && { stopSequences: [...stop] }),
    ...(reasoning && { reasoning: reasoning === 'off' ? 'none' : reasoning }),
    ...(schema && {
      responseFormat: { type: 'json', schema: schema.schema, name: schema.name ?? 'answer' },
    }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name: names.toWire(name),
        inputSchema: parameters,
        ...(description !== undefined && { description }),
      })),
      toolChoice:
        typeof toolChoice === 'string'
          ? { type: toolChoice }
          : { type: 'tool', toolName: names.toWire(toolChoice.name) },
    }),
  };
}

/**
 * Marks the end of a cacheable prefix: Anthropic requires a mark, others detect it automatically. Providers find a
 * prefix by its text for all requests of an account, so it starts with the key: requests with other keys never
 * match it.
 */
function marked(prompt: LanguageModelV4Message[], cacheKey: string | undefined): LanguageModelV4Message[] {
  const last = prompt.findLastIndex(({ role }) => role === 'system');
  if (cacheKey === undefined || last < 0) return prompt;
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  return [
    { role: 'system', content: `Cache scope: ${cacheKey}` },
    ...prompt.map((message, at) => (at === last ? { ...message, providerOptions } : message)),
  ];
}

/** All names in a request: a model may repeat those of earlier turns. */
export function* namesIn({ messages, tools = [] }: ModelRequest): Generator<string> {
  for (const { name } of tools) yield name;
  for (const message of messages) {
    if (message.role === 'tool') yield message.name;
    if (message.role === 'assistant') for (const { name } of message.toolCalls ?? []) yield name;
  }
}

function promptOf(message: Message, names: ToolNames): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user': {
      const { content } = message;
      const parts: readonly ContentPart[] =
        typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      return { role: 'user', content: parts.map(contentOf) };
    }
    case 'assistant': {
      const { content, toolCalls = [], reasoning = [] } = message;
      return {
        role: 'assistant',
        content: [
          ...reasoning.map((part) => ({ type: 'reasoning', text: part.text, ...returned(part) }) as const),
          ...(content === '' ? [] : [{ type: 'text', text: content } as const]),
          ...toolCalls.map(
            (call) =>
              ({
                type: 'tool-call',
                toolCallId: call.id,
                toolName: names.toWire(call.name),
                // Some families refuse arguments that are not an object
                input: call.broken === undefined ? (call.arguments ?? {}) : {},
                ...returned(call),
              }) as const,
          ),
        ],
      };
    }
    case 'tool': {
      const { toolCallId, name } = message;
      const result = { toolCallId, toolName: names.toWire(name), output: outputOf(message) };
      return { role: 'tool', content: [{ type: 'tool-result', ...result }] };
    }
  }
}

/** Data that a provider needs back unchanged; other families ignore it. */
const returned = ({ metadata }: { readonly metadata?: JsonObject }) =>
  metadata && { providerOptions: metadata as SharedV4ProviderOptions };

function contentOf(part: ContentPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mimeType, data, name } = part;
  const file = { type: 'file', mediaType: mimeType, data: { type: 'data', data } } as const;
  return name === undefined ? file : { ...file, filename: name };
}

function outputOf({ content, isError }: Extract<Message, { role: 'tool' }>): LanguageModelV4ToolResultOutput {
  if (typeof content === 'string') return { type: isError ? 'error-text' : 'text', value: content };
  return { type: isError ? 'error-json' : 'json', value: content };
}
