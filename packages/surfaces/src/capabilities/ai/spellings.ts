/** How published packs spell calls of models. Every method is at the root of `ctx` and below `aiProviders`. */
import type { JsonObject } from '@gantry/protocol';
import { type Data, type DataObject, isObject } from '../../calls/data.ts';
import { also, isList, member, rename, type Spelling, type Step } from '../../calls/spelling.ts';

/** `inputSchema` and `function: { name, parameters }` are what other dialects call it. */
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
  const known = parameters ?? inputSchema ?? schema;
  const { name, description } = rest;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(known !== undefined && { parameters: known }),
  };
}

/** Hints that choose nothing here. */
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
    const given = value.values ?? texts ?? input ?? text ?? saidIn(messages);
    if (given === undefined) return value;
    return { ...value, values: isList(given) ? given : [given] };
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

/** Its schema is closed, and calls by the contract always say the size. */
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

const vectorsAt = (path: string, when?: string): Spelling => ({
  path,
  ...(when !== undefined && { when }),
  to: 'aiProviders.callEmbeddings',
  takes: [texts],
  gives: [first],
});

const gives = [also({ text: 'content', parsed: 'data' })];
const chatAt = (path: string): Spelling => ({
  path,
  to: 'aiProviders.callAI',
  takes: [hints, ignored],
  gives,
});
const toolsAt = (path: string): Spelling => ({
  path,
  to: 'aiProviders.callAIWithTools',
  takes: [hints, ignored, tools],
  gives,
});

const both = (path: string, at: (path: string) => Spelling): Spelling[] => [
  at(path),
  at(`aiProviders.${path}`),
];
const plainAt =
  (method: string, steps: Pick<Spelling, 'takes' | 'gives'> = {}) =>
  (path: string): Spelling => ({ path, to: `aiProviders.${method}`, ...steps });

const PLAIN = [
  'callReranker',
  'callImageEditor',
  'callImageUpscaler',
  'callSpeechSynthesizer',
  'callTextToSpeech',
  'callSpeechToText',
  'callTranscriber',
  'webSearch',
] as const;

export const AI: readonly Spelling[] = [
  ...both('callAI', (path) => vectorsAt(path, 'embeddingMode')),
  ...both('callEmbeddings', vectorsAt),
  ...both('callAI.embeddings', vectorsAt),
  ...both('callAI', chatAt),
  ...both('callAIWithTools', toolsAt),
  ...both('callImageGenerator', plainAt('callImageGenerator', { takes: [size], gives: [pictures] })),
  ...both(
    'callVideoGenerator',
    plainAt('callVideoGenerator', { takes: [rename({ durationSec: 'durationSeconds' })] }),
  ),
  ...PLAIN.flatMap((method) => both(method, plainAt(method))),
];
