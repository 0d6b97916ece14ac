import Type, { type Static } from 'typebox';
import { closed, identity, PackName, Version } from './fields.ts';

const PromptVariable = Type.Object(
  {
    name: Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_]{0,63}$' }),
    type: Type.Enum(['string', 'number', 'boolean', 'array', 'object']),
    required: Type.Boolean(),
    source: Type.Optional(Type.Enum(['input', 'variable', 'secret', 'context'])),
    extractPath: Type.Optional(Type.String({ maxLength: 512 })),
    defaultValue: Type.Optional(Type.Unknown()),
    description: Type.Optional(Type.String({ maxLength: 500 })),
  },
  closed,
);

export const PromptTemplate = Type.Object(
  {
    templateId: Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,127}$' }),
    version: Version,
    kind: Type.Enum(['system', 'user', 'few-shot', 'schema-hint']),
    text: Type.String({ maxLength: 65_536 }),
    name: Type.Optional(Type.String({ maxLength: 200 })),
    description: Type.Optional(Type.String({ maxLength: 2000 })),
    variables: Type.Optional(Type.Array(PromptVariable, { maxItems: 200 })),
    modelHints: Type.Optional(
      Type.Object(
        {
          modelClass: Type.Optional(Type.String({ maxLength: 64 })),
          temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
          maxTokens: Type.Optional(Type.Integer({ minimum: 1 })),
          envelopeType: Type.Optional(Type.String({ maxLength: 256 })),
        },
        closed,
      ),
    ),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 })),
    meta: Type.Optional(
      Type.Object(
        {
          author: Type.Optional(Type.String({ maxLength: 256 })),
          createdAt: Type.Optional(Type.String({ maxLength: 64 })),
          updatedAt: Type.Optional(Type.String({ maxLength: 64 })),
          source: Type.Optional(Type.Enum(['host', 'pack', 'user'])),
          packName: Type.Optional(PackName),
          packVersion: Type.Optional(Version),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type PromptTemplate = Static<typeof PromptTemplate>;

export const PromptPackManifest = Type.Object(
  {
    ...identity,
    kind: Type.Literal('prompt'),
    prompts: Type.Array(PromptTemplate, { minItems: 1, maxItems: 500 }),
  },
  closed,
);
export type PromptPackManifest = Static<typeof PromptPackManifest>;
