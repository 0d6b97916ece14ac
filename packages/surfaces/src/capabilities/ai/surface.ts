/** `ctx.callAI` and its kin: what pack code asks of models. Members are at the root of `ctx`. */
import type { JsonObject } from '@gantry/protocol';
import Type, { type TProperties } from 'typebox';
import { type Data, isObject } from '../../calls/data.ts';
import {
  defineSurface,
  type Implementation,
  type ImplementedSurface,
  namesOf,
  type SurfaceLiteral,
} from '../../calls/define-surface.ts';
import { Json } from '../../calls/schema.ts';
import { also, isList, member, rename, type Spelling, type Step } from '../../calls/spelling.ts';

const optional = Type.Optional;
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const Schema = Type.Unsafe<JsonObject>({ type: 'object' });

const Which = {
  provider: optional(text(64)),
  model: optional(text(256)),
  credentialRef: optional(text(256)),
};

const ChatMessage = Type.Object({
  role: Type.Enum(['system', 'user', 'assistant', 'tool'] as const),
  content: Json,
  toolCalls: optional(Type.Array(Schema, { maxItems: 128 })),
  toolCallId: optional(Type.String({ maxLength: 256 })),
  name: optional(Type.String({ maxLength: 256 })),
});

const Chat = {
  ...Which,
  systemPrompt: optional(Type.String()),
  messages: Type.Array(ChatMessage, { maxItems: 10_000 }),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  topP: optional(Type.Number({ minimum: 0, maximum: 1 })),
  maxTokens: optional(Type.Integer({ minimum: 1 })),
  stopSequences: optional(Type.Array(Type.String(), { maxItems: 16 })),
  seed: optional(Type.Integer()),
  responseSchema: optional(Schema),
};

const Usage = optional(
  Type.Object({
    inputTokens: optional(Type.Number()),
    outputTokens: optional(Type.Number()),
    totalTokens: optional(Type.Number()),
  }),
);

const Answer = {
  content: optional(Type.String()),
  data: optional(Json),
  usage: Usage,
  finishReason: optional(Type.String()),
  model: optional(Type.String()),
};

const asks = <I extends TProperties, O extends TProperties>(summary: string, input: I, output: O) => ({
  effect: 'effect' as const,
  summary,
  input: Type.Object(input),
  output: Type.Object(output),
});

const METHODS = {
  callAI: asks(
    'One turn of a model. With `responseSchema` the answer is JSON that fits it, in `data`. Text is told as ' +
      '`output.chunk` while it arrives.',
    Chat,
    Answer,
  ),
  callAIWithTools: asks(
    'One turn of a model that may ask for tools: their calls are in `toolCalls`. The code runs them and asks again.',
    {
      ...Chat,
      tools: Type.Array(
        Type.Object({
          name: text(256),
          description: optional(Type.String()),
          parameters: optional(Schema),
        }),
        { maxItems: 128 },
      ),
      toolChoice: optional(Json),
    },
    {
      ...Answer,
      toolCalls: optional(
        Type.Array(Type.Object({ id: Type.String(), name: Type.String(), arguments: Json })),
      ),
    },
  ),
  callEmbeddings: asks(
    'A vector for each text, in their order.',
    {
      ...Which,
      values: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 100 }),
      dimensions: optional(Type.Integer({ minimum: 1, maximum: 32_768 })),
    },
    {
      embeddings: Type.Array(Type.Array(Type.Number())),
      dimensions: Type.Integer(),
      model: Type.String(),
      usage: Usage,
    },
  ),
};

type AiLiteral = Omit<SurfaceLiteral, 'journal' | 'methods'> & {
  readonly journal: 'own';
  readonly methods: typeof METHODS;
};

/** What the host does for these methods: it claims, asks and records. */
export type ModelsPort = Implementation<AiLiteral>;

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

export const aiSurface = defineSurface({
  ...namesOf('aiProviders'),
  summary:
    'Models of the providers that the tenant has. A call is recorded before its answer is seen, so a node that runs ' +
    'again never pays twice; what it may cost is reserved in the budget of the run before anything is sent.',
  journal: 'own',
  advertised: 'elsewhere',
  limits: {},
  errors: [
    'provider_unavailable',
    'provider_quota_exhausted',
    'provider_not_supported',
    'model_not_supported',
    'provider_policy_denied',
    'response_schema_invalid',
    'content_too_long',
    'unsupported_modality',
    'credential_unavailable',
    'budget_model_denied',
  ],
  spellings: [
    vectorsAt('callAI', 'embeddingMode'),
    vectorsAt('aiProviders.callAI', 'embeddingMode'),
    ...['callEmbeddings', 'callAI.embeddings'].flatMap((path) => [
      vectorsAt(path),
      vectorsAt(`aiProviders.${path}`),
    ]),
    chatAt('callAI'),
    chatAt('aiProviders.callAI'),
    toolsAt('callAIWithTools'),
    toolsAt('aiProviders.callAIWithTools'),
  ],
  opens: async ({ models }) => ({
    backends: [],
    implement: () => (models ? implementModels(models) : null),
  }),
  methods: METHODS,
});

const implementModels = (models: ModelsPort): ImplementedSurface => aiSurface.implement(models);
