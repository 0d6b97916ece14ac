/** `ctx.callAI` and related methods: requests of pack code to models. Members are at the root of `ctx`. */
import Type from 'typebox';
import { defineSurface, type Implementation, type ImplementedSurface } from '../../calls/define-surface.ts';
import { Json, listOf, optional, Text, text, Whole } from '../../calls/schema.ts';
import { overHost } from '../../open-port.ts';
import { asks, CachePrefix, MODEL_ERRORS, Schema, Usage, Which } from './asks.ts';
import { MEDIA_METHODS } from './media-methods.ts';
import { AI } from './spellings.ts';

const ChatMessage = {
  role: Type.Enum(['system', 'user', 'assistant', 'tool'] as const),
  content: Json,
  toolCalls: optional(Type.Array(Schema, { maxItems: 128 })),
  toolCallId: optional(Type.String({ maxLength: 256 })),
  name: optional(Type.String({ maxLength: 256 })),
};

const Chat = {
  ...Which,
  systemPrompt: optional(Text),
  messages: listOf(ChatMessage, 10_000),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  topP: optional(Type.Number({ minimum: 0, maximum: 1 })),
  maxTokens: optional(Type.Integer({ minimum: 1 })),
  stopSequences: optional(Type.Array(Text, { maxItems: 16 })),
  seed: optional(Whole),
  responseSchema: optional(Schema),
  ...CachePrefix,
};

const Answer = {
  content: optional(Text),
  data: optional(Json),
  usage: Usage,
  finishReason: optional(Text),
  model: optional(Text),
};

const METHODS = {
  callAI: asks(
    'One turn of a model. With `responseSchema` the answer is JSON that fits it, in `data`. Text is emitted as ' +
      '`output.chunk` while it arrives. Calls of a tenant with the same `cachePrefixId` share what the provider keeps of ' +
      'their system prompt, where it does: only what they cost may differ.',
    Chat,
    Answer,
  ),
  callAIWithTools: asks(
    'One turn of a model that may ask for tools: their calls are in `toolCalls`. The code runs them and asks again.',
    {
      ...Chat,
      tools: listOf({ name: text(256), description: optional(Text), parameters: optional(Schema) }, 128),
      toolChoice: optional(Json),
    },
    { ...Answer, toolCalls: optional(listOf({ id: Text, name: Text, arguments: Json })) },
  ),
  ...MEDIA_METHODS,
};

/** The host's implementation of these methods: it claims, calls the model and records. */
export type ModelsPort = Implementation<{ journal: 'own'; methods: typeof METHODS }>;

export const MODEL_METHODS = Object.keys(METHODS) as (keyof ModelsPort)[];

export const aiSurface = defineSurface({
  capability: 'aiProviders',
  summary:
    'Models of the providers that the tenant has. A call is recorded before its answer is seen, so a node that runs ' +
    'again never pays twice; what it may cost is reserved in the budget of the run before anything is sent.',
  journal: 'own',
  advertised: 'elsewhere',
  limits: {},
  errors: [
    ...MODEL_ERRORS,
    'provider_policy_denied',
    'response_schema_invalid',
    'content_too_long',
    'unsupported_modality',
    'credential_unavailable',
    'budget_model_denied',
    'image_generation_failed',
    'image_safety_filtered_all',
    'speech_synthesis_unsupported',
    'speech_synthesis_failed',
    'transcription_unsupported',
    'video_generation_failed',
    'video_generation_timeout',
    'video_generation_cancelled',
    'effect_in_doubt',
    'host_capability_missing',
  ],
  spellings: AI,
  opens: overHost('models', implementModels),
  methods: METHODS,
});

function implementModels(models: ModelsPort): ImplementedSurface {
  return aiSurface.implement(models);
}
