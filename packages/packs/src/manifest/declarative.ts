/** Kinds of packs that hold data and no code. */
import Type, { type Static } from 'typebox';
import {
  Address,
  AnyName,
  Data,
  FileRef,
  identity,
  LongText,
  ModelCapabilities,
  manifestOf,
  PackName,
  strict,
  TypeId,
  Version,
} from './fields.ts';

const Rendering = strict({
  display: Type.Optional(Type.Enum(['markdown', 'code', 'image', 'audio', 'file'])),
  mimeType: Type.Optional(Type.String({ maxLength: 255 })),
  lang: Type.Optional(Type.String({ maxLength: 64 })),
  alt: Type.Optional(Type.String({ maxLength: 1024 })),
});

const EXPORT_FORMAT = '^([a-z][a-z0-9]*|vendor\\.[a-z][a-z0-9-]*\\.[a-z][a-z0-9-]*|x-[a-z][a-z0-9-]*)$';
const ExportFormats = Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: EXPORT_FORMAT }), {
  uniqueItems: true,
  maxItems: 50,
});

/** `schema`, `title` and `export` are an older dialect that one published pack still uses. */
const ArtifactType = strict({
  artifactTypeId: TypeId,
  schemaRef: Type.Optional(FileRef),
  schema: Type.Optional(Data),
  schemaVersion: Type.Optional(Type.Integer({ minimum: 0 })),
  validation: Type.Optional(Type.Enum(['open', 'closed'])),
  displayName: Type.Optional(Type.String({ maxLength: 256 })),
  title: Type.Optional(Type.String({ maxLength: 256 })),
  rendering: Type.Optional(Rendering),
  exportFormats: Type.Optional(ExportFormats),
  export: Type.Optional(ExportFormats),
  syncOn: Type.Optional(Type.Enum(['completion', 'approval', 'manual'])),
  supportsCheckpoint: Type.Optional(Type.Boolean()),
  versionable: Type.Optional(Type.Boolean()),
  diffable: Type.Optional(Type.Boolean()),
});
export type ArtifactType = Static<typeof ArtifactType>;

export const ArtifactTypePackManifest = manifestOf('artifact-type', {
  artifactTypes: Type.Array(ArtifactType, { minItems: 1, maxItems: 200 }),
});

const FIELD_TYPE =
  '^(text|longtext|number|boolean|select|multiselect|file|artifact-ref|vendor\\.[a-z][a-z0-9-]*\\.[a-z][a-z0-9-]*|x-[a-z][a-z0-9-]*)$';

/** What cards and forms ask for; an `x-` or `vendor.` type that a renderer does not know becomes text. */
const field = {
  id: Type.String({ maxLength: 128, pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' }),
  type: Type.String({ maxLength: 128, pattern: FIELD_TYPE }),
  required: Type.Optional(Type.Boolean()),
  default: Type.Optional(Type.Unknown()),
  options: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 250 })),
} as const;

const Card = strict({
  cardTypeId: PackName,
  schemaVersion: Type.Optional(Type.Integer({ minimum: 0 })),
  prompt: strict({
    template: LongText,
    systemPrompt: Type.Optional(Type.String({ maxLength: 65_536 })),
    placeholderMapping: Type.Record(AnyName, Type.String({ maxLength: 256 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  inputs: Type.Optional(
    Type.Array(strict({ ...field, label: Type.Optional(Type.String({ maxLength: 1000 })) }), {
      maxItems: 200,
    }),
  ),
  outputArtifactType: Type.Optional(PackName),
  outputSchemaRef: Type.Optional(FileRef),
  requiredModelCapabilities: Type.Optional(ModelCapabilities),
});

export const CardPackManifest = manifestOf('card', {
  cards: Type.Array(Card, { minItems: 1, maxItems: 200 }),
});

const FormField = strict({
  ...field,
  label: Type.String({ minLength: 1, maxLength: 1000 }),
  description: Type.Optional(Type.String({ maxLength: 300 })),
  format: Type.Optional(
    Type.String({ maxLength: 64, pattern: '^(email|uri|date|date-time|time|x-[a-z][a-z0-9-]*)$' }),
  ),
});

const FormTemplate = strict({
  templateId: PackName,
  version: Version,
  label: Type.String({ minLength: 1, maxLength: 200 }),
  title: Type.String({ minLength: 1, maxLength: 1000 }),
  description: Type.Optional(Type.String({ maxLength: 300 })),
  category: Type.Optional(Type.String({ maxLength: 64 })),
  fields: Type.Array(FormField, { minItems: 1, maxItems: 200 }),
});

export const FormContentPackManifest = manifestOf('form-content', {
  templates: Type.Array(FormTemplate, { minItems: 1, maxItems: 100 }),
});

const UiPlugin = strict({
  pluginId: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
  surface: Type.Enum(['artifact-viewer', 'route', 'settings-panel']),
  entry: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,255}$' }),
  hostApi: Type.Array(Type.Enum(['artifact.read', 'artifact.write', 'host.toast', 'host.navigate']), {
    uniqueItems: true,
    maxItems: 4,
  }),
  connectSrc: Type.Optional(Type.Array(Address, { uniqueItems: true, maxItems: 50 })),
});

const { name, version, description, author, license, homepage, engines } = identity;

/** Closed as the protocol lays it down: without dependencies, and without `signing`, since its files are signed apart. */
export const FrontendPluginPackManifest = strict({
  name,
  version,
  kind: Type.Literal('frontend-plugin'),
  description,
  author,
  license,
  homepage,
  engines: strict(engines.properties),
  uiPlugins: Type.Array(UiPlugin, { minItems: 1, maxItems: 50 }),
});

const PromptVariable = strict({
  name: Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_]{0,63}$' }),
  type: Type.Enum(['string', 'number', 'boolean', 'array', 'object']),
  required: Type.Boolean(),
  source: Type.Optional(Type.Enum(['input', 'variable', 'secret', 'context'])),
  extractPath: Type.Optional(Type.String({ maxLength: 512 })),
  defaultValue: Type.Optional(Type.Unknown()),
  description: Type.Optional(Type.String({ maxLength: 500 })),
});

export const PromptTemplate = strict({
  templateId: Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,127}$' }),
  version: Version,
  kind: Type.Enum(['system', 'user', 'few-shot', 'schema-hint']),
  text: Type.String({ maxLength: 65_536 }),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  variables: Type.Optional(Type.Array(PromptVariable, { maxItems: 200 })),
  modelHints: Type.Optional(
    strict({
      modelClass: Type.Optional(Type.String({ maxLength: 64 })),
      temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
      maxTokens: Type.Optional(Type.Integer({ minimum: 1 })),
      envelopeType: Type.Optional(Type.String({ maxLength: 256 })),
    }),
  ),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 })),
  meta: Type.Optional(
    strict({
      author: Type.Optional(Type.String({ maxLength: 256 })),
      createdAt: Type.Optional(Type.String({ maxLength: 64 })),
      updatedAt: Type.Optional(Type.String({ maxLength: 64 })),
      source: Type.Optional(Type.Enum(['host', 'pack', 'user'])),
      packName: Type.Optional(PackName),
      packVersion: Type.Optional(Version),
    }),
  ),
});
export type PromptTemplate = Static<typeof PromptTemplate>;

export const PromptPackManifest = manifestOf('prompt', {
  prompts: Type.Array(PromptTemplate, { minItems: 1, maxItems: 500 }),
});
