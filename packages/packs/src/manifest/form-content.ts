import Type, { type Static } from 'typebox';
import { field } from './card.ts';
import { closed, identity, PackName, Version } from './fields.ts';

const FormField = Type.Object(
  {
    ...field,
    label: Type.String({ minLength: 1, maxLength: 1000 }),
    description: Type.Optional(Type.String({ maxLength: 300 })),
    format: Type.Optional(
      Type.String({ maxLength: 64, pattern: '^(email|uri|date|date-time|time|x-[a-z][a-z0-9-]*)$' }),
    ),
  },
  closed,
);

const FormTemplate = Type.Object(
  {
    templateId: PackName,
    version: Version,
    label: Type.String({ minLength: 1, maxLength: 200 }),
    title: Type.String({ minLength: 1, maxLength: 1000 }),
    description: Type.Optional(Type.String({ maxLength: 300 })),
    category: Type.Optional(Type.String({ maxLength: 64 })),
    fields: Type.Array(FormField, { minItems: 1, maxItems: 200 }),
  },
  closed,
);

export const FormContentPackManifest = Type.Object(
  {
    ...identity,
    kind: Type.Literal('form-content'),
    templates: Type.Array(FormTemplate, { minItems: 1, maxItems: 100 }),
  },
  closed,
);
export type FormContentPackManifest = Static<typeof FormContentPackManifest>;
