/** `ctx.callAI` and its kin: what pack code asks of models. Members are at the root of `ctx`. */
import Type from 'typebox';
import {
  defineSurface,
  type Implementation,
  type ImplementedSurface,
  namesOf,
  type SurfaceLiteral,
} from '../../calls/define-surface.ts';
import { Json } from '../../calls/schema.ts';
import { asks, CachePrefix, optional, Schema, text, Usage, Which } from './asks.ts';
import { MEDIA_METHODS } from './media-methods.ts';
import { AI } from './spellings.ts';

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
  ...CachePrefix,
};

const Answer = {
  content: optional(Type.String()),
  data: optional(Json),
  usage: Usage,
  finishReason: optional(Type.String()),
  model: optional(Type.String()),
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
  ...MEDIA_METHODS,
};

type AiLiteral = Omit<SurfaceLiteral, 'journal' | 'methods'> & {
  readonly journal: 'own';
  readonly methods: typeof METHODS;
};

/** What the host does for these methods: it claims, asks and records. */
export type ModelsPort = Implementation<AiLiteral>;

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
  opens: async ({ models }) => ({
    backends: [],
    implement: () => (models ? implementModels(models) : null),
  }),
  methods: METHODS,
});

const implementModels = (models: ModelsPort): ImplementedSurface => aiSurface.implement(models);
