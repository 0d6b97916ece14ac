/** The kinds of envelopes that every host supports, and those of media and surfaces. */
import { closedObject, optional } from '@gantry/protocol';
import Type, { type TSchema } from 'typebox';
import { A2uiPayload } from './a2ui.ts';
import { type Check, checkOf } from './document.ts';

export type CounterName = 'envelopesPerTurn' | 'schemaRounds' | 'clarificationRounds';

/** The `kind` of `cap.breached` for each counter. */
export const CAP_KINDS = {
  envelopesPerTurn: 'envelopes',
  schemaRounds: 'schema',
  clarificationRounds: 'clarification',
} as const satisfies Record<CounterName, string>;

export interface EnvelopeKind {
  readonly schema: TSchema;
  readonly version: number;
  readonly check: Check;
  /** The counter of accepted envelopes, besides `envelopesPerTurn`. */
  readonly counter?: CounterName;
}

const kind = (schema: TSchema, counter?: CounterName): EnvelopeKind => ({
  schema,
  version: 1,
  check: checkOf(schema),
  ...(counter && { counter }),
});

const Short = Type.String({ minLength: 1, maxLength: 128 });
const KindName = Type.String({ minLength: 1, maxLength: 256 });
const reasoning = { reasoning: optional(Type.String()) };

const media = (more: Record<string, TSchema>) =>
  kind(
    closedObject({
      url: optional(Type.String({ format: 'uri' })),
      base64: optional(Type.String()),
      bytes: Type.Integer({ minimum: 0 }),
      mimeType: optional(Type.String()),
      alt: optional(Type.String()),
      ...more,
    }),
  );

/** No contract of a node can refuse these. */
export const UNIVERSAL_KINDS: Readonly<Record<string, EnvelopeKind>> = {
  'clarification.request': kind(
    closedObject({
      questions: Type.Array(
        closedObject({
          id: Short,
          question: Type.String({ minLength: 1 }),
          schema: optional(Type.Object({})),
          context: optional(Type.Object({})),
        }),
        { minItems: 1 },
      ),
      contextType: optional(Type.String({ maxLength: 128 })),
      ...reasoning,
    }),
    'clarificationRounds',
  ),
  'schema.request': kind(
    closedObject({
      envelopeType: KindName,
      reason: optional(Type.String({ maxLength: 1024 })),
      ...reasoning,
    }),
    'schemaRounds',
  ),
  'schema.response': kind(closedObject({ envelopeType: KindName, ack: Type.Literal(true) })),
  error: kind(
    closedObject({
      code: Short,
      message: Type.String({ minLength: 1 }),
      details: optional(Type.Object({})),
      ...reasoning,
    }),
  ),
};

export const A2UI_KIND = 'ui.a2ui-surface';

export const KNOWN_KINDS: Readonly<Record<string, EnvelopeKind>> = {
  ...UNIVERSAL_KINDS,
  'media.image': media({}),
  'media.audio': media({ durationSeconds: optional(Type.Number({ minimum: 0 })) }),
  'media.file': media({ name: optional(Type.String()) }),
  [A2UI_KIND]: kind(A2uiPayload),
};

export const isUniversal = (type: string): boolean => Object.hasOwn(UNIVERSAL_KINDS, type);
export const kindOf = (type: string): EnvelopeKind | undefined =>
  Object.hasOwn(KNOWN_KINDS, type) ? KNOWN_KINDS[type] : undefined;
