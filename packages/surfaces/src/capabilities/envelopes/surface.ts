/** `ctx.aiEnvelope`: typed documents made by a model, and waiting for those of other nodes in the run. */
import Type from 'typebox';
import {
  acts,
  defineSurface,
  type Implementation,
  type ImplementedSurface,
  writes,
} from '../../calls/define-surface.ts';
import { Count, Flag, Json, optional, Text, text } from '../../calls/schema.ts';
import { overHost } from '../../open-port.ts';
import { CachePrefix, MODEL_ERRORS, Usage, Which } from '../ai/asks.ts';

const Values = Type.Record(Type.String(), Json);

const METHODS = {
  generate: acts(
    'Asks a model for an envelope of a kind. `{{name}}` in the prompts is filled in from `variables`; the context is ' +
      'given as JSON. With `schema` the payload has to fit it. The model may ask a person first: the node then waits, and ' +
      'runs again. It may also give up: then `envelopeType` is `error`.',
    {
      systemPrompt: Text,
      envelopeType: text(256),
      ...Which,
      temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
      maxTokens: optional(Type.Integer({ minimum: 1 })),
      userMessage: optional(Text),
      variables: optional(Values),
      context: optional(Values),
      schema: optional(Values),
      idempotencyKey: optional(text(128)),
      ...CachePrefix,
    },
    {
      envelopeType: Text,
      payload: Json,
      envelopeId: Text,
      usage: Usage,
      model: optional(Text),
      rendering: optional(Values),
    },
  ),
  await: writes(
    'Waits for an envelope of a kind that another node of the run makes, or that somebody sends as the answer to the ' +
      'interrupt of the node. Each is taken once, the oldest first. The node waits without a process; when nothing came in ' +
      'time, the answer is `timedOut: true`.',
    { envelopeType: text(256), timeoutMs: Count },
    {
      envelopeType: Text,
      payload: optional(Json),
      envelopeId: optional(Text),
      timedOut: optional(Flag),
    },
    { needs: 'await' },
  ),
};

export type EnvelopesPort = Implementation<{ journal: 'own'; methods: typeof METHODS }>;

export const envelopesSurface = defineSurface({
  capability: 'aiEnvelope',
  summary:
    'Envelopes: documents of a kind, made by a model, checked and kept in the log of the run. Requests to models are ' +
    'recorded and paid for as with `callAI`.',
  journal: 'own',
  advertised: 'elsewhere',
  limits: {},
  options: { await: { summary: 'Waiting for envelopes of others.', advertises: { await: true } } },
  errors: ['envelope_validation_failed', 'envelope_refusal', ...MODEL_ERRORS, 'content_too_long'],
  opens: overHost('envelopes', implementEnvelopes),
  methods: METHODS,
});

function implementEnvelopes(envelopes: EnvelopesPort): ImplementedSurface {
  return envelopesSurface.implement(envelopes);
}
