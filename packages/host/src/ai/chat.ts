/** A chat with a model: the request in the form of the port, and the answer in the terms of the protocol. */
import { hash } from 'node:crypto';
import {
  type ContentPart,
  estimatedUsage,
  estimateInput,
  type Finish,
  jsonOfModel,
  type Message,
  type ModelAnswer,
  type ModelRequest,
  type ModelTool,
  readAnswer,
  type ToolCallPart,
} from '@gantry/ai';
import { given, isObject, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { userSchemaIssues } from '../workflows/user-schema.ts';
import { checkModality } from './media-input.ts';
import type { ChosenModel } from './model-source.ts';
import type { PlannedCall } from './planned-call.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: Json;
  readonly toolCalls?: readonly JsonObject[];
  readonly toolCallId?: string;
  readonly name?: string;
}

/** The request of nodes and pack code. */
export interface ChatAsk {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly credentialRef?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly responseSchema?: JsonObject | undefined;
  readonly tools?: readonly ModelTool[] | undefined;
  readonly toolChoice?: ModelRequest['toolChoice'] | undefined;
  /** Calls of the tenant with the same id share the provider's cache of their system prompt. */
  readonly cachePrefixId?: string | undefined;
}

export const FINISH_REASONS: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refusal: 'content_filter',
};

/** Answers are rarely longer; callers may request more. */
const OUTPUT_TOKENS_DEFAULT = 8_192;
/** Providers bound its length. */
const KEY_LENGTH = 32;

export function chatCall(ask: ChatAsk, chosen: ChosenModel, tenant: string): PlannedCall {
  const { provider, model, credentialRef, price, streams, keepsPrefixes } = chosen;
  const { cachePrefixId } = ask;
  const cacheKey =
    keepsPrefixes && cachePrefixId !== undefined ? hash('sha256', `${tenant}\0${cachePrefixId}`) : undefined;
  const request = { ...requestOf(ask, chosen), ...(cacheKey && { cacheKey: cacheKey.slice(0, KEY_LENGTH) }) };
  return {
    provider,
    model,
    credentialRef,
    price,
    streams,
    inputTokens: estimateInput(request),
    outputTokens: request.maxOutputTokens,
    usageOf: (arrived) => estimatedUsage(request, arrived),
    async attempt({ asked: before, outputTokens, text, other, ...io }) {
      const asked = { ...request, maxOutputTokens: outputTokens };
      const { chat } = await chosen.family(before);
      const answer = await readAnswer(chat, asked, chosen.reach(io), { text, other });
      const { usage, finish } = answer;
      const json: Json = JSON.parse(JSON.stringify(answer));
      return { answer: json, usage, model: answer.model, finishReason: FINISH_REASONS[finish] };
    },
  };
}

function requestOf(ask: ChatAsk, { model, outputTokensMax, modalities }: ChosenModel): ModelRequest {
  const { systemPrompt, messages, maxTokens, responseSchema, tools = [], toolChoice } = ask;
  const system: Message[] = systemPrompt ? [{ role: 'system', content: systemPrompt }] : [];
  if (responseSchema) checkSchema(responseSchema);
  const { temperature, topP, seed, stopSequences: stop } = ask;
  return {
    model,
    messages: [...system, ...messages.map((message, at) => messageOf(message, at, modalities))],
    maxOutputTokens: Math.min(maxTokens ?? OUTPUT_TOKENS_DEFAULT, outputTokensMax),
    ...given({ temperature, topP, seed }),
    ...(stop && stop.length > 0 && { stop }),
    ...(responseSchema && { schema: { schema: responseSchema } }),
    ...(tools.length > 0 && { tools, ...(toolChoice !== undefined && { toolChoice }) }),
  };
}

function checkSchema(schema: JsonObject): void {
  const [issue] = userSchemaIssues(schema);
  if (issue !== undefined) throw new OpenwopError('response_schema_invalid', { details: { problem: issue } });
}

const invalid = (field: string, problem: string): OpenwopError =>
  new OpenwopError('validation_error', { message: `${field} ${problem}.`, details: { field } });

function messageOf(message: ChatMessage, at: number, modalities: ChosenModel['modalities']): Message {
  const { role, content, toolCalls, toolCallId, name = '' } = message;
  const where = `messages/${at}`;
  switch (role) {
    case 'system':
      return { role, content: textOf(content, where) };
    case 'assistant':
      return {
        role,
        content: textOf(content, where),
        ...(toolCalls && { toolCalls: toolCalls.map(toolCallOf) }),
      };
    case 'tool':
      if (toolCallId === undefined)
        throw invalid(`${where}/toolCallId`, 'is missing: which call is answered');
      return { role, toolCallId, name, content };
    case 'user':
      return {
        role,
        content: Array.isArray(content)
          ? content.map((part, index) => partOf(part, `${where}/content/${index}`, modalities))
          : textOf(content, where),
      };
  }
}

function textOf(content: Json, where: string): string {
  if (typeof content === 'string') return content;
  if (content === null) return '';
  const texts = Array.isArray(content) ? content.map((part) => (isObject(part) ? part.text : null)) : [null];
  if (texts.every((text) => typeof text === 'string')) return texts.join('');
  throw invalid(`${where}/content`, 'must be text');
}

const toolCallOf = (call: JsonObject): ToolCallPart => ({
  id: String(call.id ?? ''),
  name: String(call.name ?? ''),
  arguments: call.arguments ?? {},
});

const TYPES: Readonly<Record<string, ContentPart['type']>> = {
  text: 'text',
  image: 'image',
  audio: 'audio',
  document: 'document',
  file: 'document',
};

/** Media are base64 here; addresses were fetched before. */
function partOf(part: Json, where: string, modalities: ChosenModel['modalities']): ContentPart {
  const { type: said, text, mimeType, data, dataBase64, name } = isObject(part) ? part : ({} as JsonObject);
  const type = typeof said === 'string' && Object.hasOwn(TYPES, said) ? TYPES[said]! : undefined;
  if (type === undefined) throw invalid(`${where}/type`, `must be one of ${Object.keys(TYPES).join(', ')}`);
  if (type === 'text') {
    if (typeof text !== 'string') throw invalid(`${where}/text`, 'must be text');
    return { type, text };
  }
  checkModality(type, modalities, where);
  const encoded = data ?? dataBase64;
  if (typeof mimeType !== 'string') throw invalid(`${where}/mimeType`, 'is missing');
  if (typeof encoded !== 'string') throw invalid(where, 'needs its bytes as base64 in `data`');
  const named = typeof name === 'string' ? { name } : {};
  return { type, mimeType, data: Buffer.from(encoded, 'base64'), ...named };
}

/** The answer for pack code, with both spellings of its members. */
export function chatAnswer(answer: ModelAnswer, provider: string, hasSchema: boolean): JsonObject {
  const { text, finish, usage, model, toolCalls } = answer;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const data = hasSchema && finish !== 'refusal' ? jsonOfModel(text) : undefined;
  return {
    content: text,
    text,
    ...(data !== undefined && { data, parsed: data }),
    usage: {
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      promptTokens: inputTokens,
      completionTokens: outputTokens,
      ...given({ cacheReadTokens, cacheWriteTokens }),
    },
    finishReason: FINISH_REASONS[finish],
    model,
    provider,
    ...(toolCalls && {
      toolCalls: toolCalls.map(({ id, name, arguments: args, broken }) => ({
        id,
        name,
        arguments: args,
        ...given({ broken }),
      })),
    }),
  };
}
