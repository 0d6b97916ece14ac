/** `ctx.aiEnvelope`: typed documents that a model makes, and waiting for those that others of the run make. */
import Type from 'typebox';
import {
  defineSurface,
  type Effect,
  type Implementation,
  type ImplementedSurface,
  namesOf,
  type SurfaceLiteral,
} from '../../calls/define-surface.ts';
import { Json } from '../../calls/schema.ts';
import { CachePrefix, optional, text, Usage } from '../ai/asks.ts';

const Values = Type.Record(Type.String(), Json);
const effect = <E extends Effect>(kind: E): E => kind;

const METHODS = {
  generate: {
    effect: effect('effect'),
    summary:
      'Asks a model for an envelope of a kind. `{{name}}` in the prompts is filled in from `variables`; the context is ' +
      'given as JSON. With `schema` the payload has to fit it. The model may ask a person first: the node then waits, and ' +
      'runs again. It may also give up: then `envelopeType` is `error`.',
    input: Type.Object({
      systemPrompt: Type.String(),
      envelopeType: text(256),
      provider: optional(text(64)),
      model: optional(text(256)),
      credentialRef: optional(text(256)),
      temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
      maxTokens: optional(Type.Integer({ minimum: 1 })),
      userMessage: optional(Type.String()),
      variables: optional(Values),
      context: optional(Values),
      schema: optional(Values),
      idempotencyKey: optional(text(128)),
      ...CachePrefix,
    }),
    output: Type.Object({
      envelopeType: Type.String(),
      payload: Json,
      envelopeId: Type.String(),
      usage: Usage,
      model: optional(Type.String()),
      rendering: optional(Values),
    }),
  },
  await: {
    effect: effect('write'),
    needs: 'await',
    summary:
      'Waits for an envelope of a kind that another node of the run makes, or that somebody sends as the answer to the ' +
      'interrupt of the node. Each is taken once, the oldest first. The node waits without a process; when nothing came in ' +
      'time, the answer is `timedOut: true`.',
    input: Type.Object({ envelopeType: text(256), timeoutMs: Type.Integer({ minimum: 0 }) }),
    output: Type.Object({
      envelopeType: Type.String(),
      payload: optional(Json),
      envelopeId: optional(Type.String()),
      timedOut: optional(Type.Boolean()),
    }),
  },
};

type EnvelopesLiteral = Omit<SurfaceLiteral, 'journal' | 'methods'> & {
  readonly journal: 'own';
  readonly methods: typeof METHODS;
};

export type EnvelopesPort = Implementation<EnvelopesLiteral>;

export const envelopesSurface = defineSurface({
  ...namesOf('aiEnvelope'),
  summary:
    'Envelopes: documents of a kind, made by a model, checked and kept in the log of the run. Requests to models are ' +
    'recorded and paid for as with `callAI`.',
  journal: 'own',
  advertised: 'elsewhere',
  limits: {},
  options: { await: { summary: 'Waiting for envelopes of others.', advertises: { await: true } } },
  errors: [
    'envelope_validation_failed',
    'envelope_refusal',
    'provider_unavailable',
    'provider_quota_exhausted',
    'provider_not_supported',
    'model_not_supported',
    'content_too_long',
  ],
  opens: async ({ envelopes }) => ({
    backends: [],
    implement: () => (envelopes ? implementEnvelopes(envelopes) : null),
  }),
  methods: METHODS,
});

const implementEnvelopes = (envelopes: EnvelopesPort): ImplementedSurface =>
  envelopesSurface.implement(envelopes);
