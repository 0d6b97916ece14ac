/** Spellings of model calls in published packs. Every method is at the root of `ctx` and below `aiProviders`. */
import { given, type JsonObject } from '@gantry/protocol';
import { type Data, type DataObject, isObject } from '../../calls/data.ts';
import { also, isList, member, type OwnSpelling, rename, type Step } from '../../calls/spelling.ts';

/** Other dialects use `inputSchema` and `function: { name, parameters }`. */
const tools: Step = {
  says: '`tools[].inputSchema`, `schema` or `function` → `parameters`',
  adapt: (value) =>
    Array.isArray(value.tools)
      ? { ...value, tools: value.tools.map((tool) => toolOf(tool as JsonObject)) }
      : value,
};

function toolOf(tool: JsonObject): JsonObject {
  const { function: nested, inputSchema, schema, parameters, type: _type, ...rest } = tool;
  if (typeof nested === 'object' && nested !== null && !Array.isArray(nested)) return toolOf(nested);
  const { name, description } = rest;
  return given({ name, description, parameters: parameters ?? inputSchema ?? schema }) as JsonObject;
}

const hints = rename({ system: 'systemPrompt', maxOutputTokens: 'maxTokens', stop: 'stopSequences' });
const ignored: Step = {
  says: '`modelPreferences` is ignored: the operator and the run choose the model',
  knows: ['modelPreferences', 'embeddingMode'],
  adapt: ({ modelPreferences: _, embeddingMode: _mode, ...value }) => value,
};

const texts: Step = {
  says: '`text`, `texts` or `input` → `values`; with `embeddingMode` the text of `messages`',
  knows: ['text', 'texts', 'input', 'messages', 'embeddingMode'],
  adapt: ({ text, texts, input, messages, embeddingMode: _, ...value }) => {
    const said = value.values ?? texts ?? input ?? text ?? saidIn(messages);
    if (said === undefined) return value;
    return { ...value, values: isList(said) ? said : [said] };
  },
};

function saidIn(messages: Data | undefined): string | undefined {
  if (!isList(messages)) return undefined;
  const said = messages.map((message) => (isObject(message) ? message.content : undefined));
  return said.every((content) => typeof content === 'string') ? said.join('\n') : undefined;
}

const first = member('embedding', 'the first of `embeddings`', ({ embeddings }) =>
  isList(embeddings) ? embeddings[0] : undefined,
);

const size: Step = {
  says: '`n` → `count`, `size` such as "1024x768" → `width` and `height`',
  knows: ['n', 'size'],
  adapt: ({ n, size, ...value }) => {
    const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(String(size ?? '')) ?? [];
    return {
      ...(size !== undefined && width === undefined && { size }),
      ...(width !== undefined && { width: Number(width), height: Number(height) }),
      ...(n !== undefined && { count: n }),
      ...value,
    };
  },
};

/** The pack's schema is closed; calls by the contract always give the size. */
const pictures: Step = {
  says: 'without `width` only `url`, `mimeType` and `metadata` of each image, and how many there are in `usage.images`',
  adapt: (value, { input }) => {
    const { images, totalTimeMs } = value;
    if (input.width !== undefined || !isList(images)) return value;
    const told = images.map((image) => {
      const { url, mimeType, metadata } = image as DataObject;
      return { url: url!, mimeType: mimeType!, metadata: metadata! };
    });
    return { images: told, totalTimeMs: totalTimeMs!, usage: { images: told.length } };
  },
};

const gives = [also({ text: 'content', parsed: 'data' })];
const chat = { takes: [hints, ignored], gives };
const vectors = { to: 'callEmbeddings', takes: [texts], gives: [first] };

const CALLS: readonly OwnSpelling[] = [
  { call: 'callAI', when: 'embeddingMode', ...vectors },
  { call: 'callEmbeddings', ...vectors },
  { call: 'callAI.embeddings', ...vectors },
  { call: 'callAI', ...chat },
  { call: 'callAIWithTools', takes: [...chat.takes, tools], gives },
  { call: 'callImageGenerator', takes: [size], gives: [pictures] },
  { call: 'callVideoGenerator', takes: [rename({ durationSec: 'durationSeconds' })] },
  { call: 'callReranker' },
  { call: 'callImageEditor' },
  { call: 'callImageUpscaler' },
  { call: 'callSpeechSynthesizer' },
  { call: 'callTextToSpeech' },
  { call: 'callSpeechToText' },
  { call: 'callTranscriber' },
  { call: 'webSearch' },
];

export const AI: readonly OwnSpelling[] = CALLS.flatMap((spelling) => {
  const { call, to = call } = spelling;
  return [spelling, { ...spelling, call: `aiProviders.${call}`, to }];
});
