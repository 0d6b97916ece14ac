import Type, { type Static } from 'typebox';
import { AnyName, closed, FileRef, identity, LongText, ModelCapabilities, PackName } from './fields.ts';

const FIELD_TYPE =
  '^(text|longtext|number|boolean|select|multiselect|file|artifact-ref|vendor\\.[a-z][a-z0-9-]*\\.[a-z][a-z0-9-]*|x-[a-z][a-z0-9-]*)$';

/** What cards and forms ask for; an `x-` or `vendor.` type that a renderer does not know becomes text. */
export const field = {
  id: Type.String({ maxLength: 128, pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' }),
  type: Type.String({ maxLength: 128, pattern: FIELD_TYPE }),
  required: Type.Optional(Type.Boolean()),
  default: Type.Optional(Type.Unknown()),
  options: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 250 })),
} as const;

const Card = Type.Object(
  {
    cardTypeId: PackName,
    schemaVersion: Type.Optional(Type.Integer({ minimum: 0 })),
    prompt: Type.Object(
      {
        template: LongText,
        systemPrompt: Type.Optional(Type.String({ maxLength: 65_536 })),
        placeholderMapping: Type.Record(AnyName, Type.String({ maxLength: 256 })),
        temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
        maxTokens: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      closed,
    ),
    inputs: Type.Optional(
      Type.Array(Type.Object({ ...field, label: Type.Optional(Type.String({ maxLength: 1000 })) }, closed), {
        maxItems: 200,
      }),
    ),
    outputArtifactType: Type.Optional(PackName),
    outputSchemaRef: Type.Optional(FileRef),
    requiredModelCapabilities: Type.Optional(ModelCapabilities),
  },
  closed,
);

export const CardPackManifest = Type.Object(
  {
    ...identity,
    kind: Type.Literal('card'),
    cards: Type.Array(Card, { minItems: 1, maxItems: 200 }),
  },
  closed,
);
export type CardPackManifest = Static<typeof CardPackManifest>;
