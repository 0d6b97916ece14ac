/** Packs that contain data and no code. */
import Type, { type Static } from 'typebox';
import {
  Address,
  AnyName,
  Data,
  FileRef,
  Flag,
  HttpsAddress,
  identity,
  Label,
  LongText,
  list,
  ModelCapabilities,
  manifestOf,
  matching,
  PackName,
  Scopes,
  set,
  some,
  strict,
  TypeId,
  text,
  Version,
} from './fields.ts';
import { SyncOn } from './node.ts';

const Rendering = strict({
  'display?': Type.Enum(['markdown', 'code', 'image', 'audio', 'file']),
  'mimeType?': text(255),
  'lang?': text(64),
  'alt?': text(1024),
});

const VENDOR_TYPE = 'vendor\\.[a-z][a-z0-9-]*\\.[a-z][a-z0-9-]*|x-[a-z][a-z0-9-]*';
const ExportFormats = set(matching(`^([a-z][a-z0-9]*|${VENDOR_TYPE})$`, 64), 50);
const SchemaVersion = Type.Integer({ minimum: 0 });

/** `schema`, `title` and `export` are an older dialect that one published pack still uses. */
const ArtifactType = strict({
  artifactTypeId: TypeId,
  'schemaRef?': FileRef,
  'schema?': Data,
  'schemaVersion?': SchemaVersion,
  'validation?': Type.Enum(['open', 'closed']),
  'displayName?': text(256),
  'title?': text(256),
  'rendering?': Rendering,
  'exportFormats?': ExportFormats,
  'export?': ExportFormats,
  'syncOn?': SyncOn,
  'supportsCheckpoint?': Flag,
  'versionable?': Flag,
  'diffable?': Flag,
});
export type ArtifactType = Static<typeof ArtifactType>;

export const ArtifactTypePackManifest = manifestOf('artifact-type', {
  artifactTypes: some(ArtifactType, 200),
});

const FIELD_TYPE = `^(text|longtext|number|boolean|select|multiselect|file|artifact-ref|${VENDOR_TYPE})$`;

/** Input fields of cards and forms. An `x-` or `vendor.` type that a renderer does not know becomes text. */
const field = {
  id: matching('^[a-zA-Z_][a-zA-Z0-9_]*$', 128),
  type: matching(FIELD_TYPE, 128),
  'required?': Flag,
  'default?': Type.Unknown(),
  'options?': list(text(200), 250),
};

const Temperature = Type.Number({ minimum: 0, maximum: 2 });
const Tokens = Type.Integer({ minimum: 1 });

const Card = strict({
  cardTypeId: PackName,
  prompt: strict({
    template: LongText,
    placeholderMapping: Type.Record(AnyName, text(256)),
    'systemPrompt?': text(65_536),
    'temperature?': Temperature,
    'maxTokens?': Tokens,
  }),
  'schemaVersion?': SchemaVersion,
  'inputs?': list(strict({ ...field, 'label?': text(1000) }), 200),
  'outputArtifactType?': PackName,
  'outputSchemaRef?': FileRef,
  'requiredModelCapabilities?': ModelCapabilities,
});

export const CardPackManifest = manifestOf('card', { cards: some(Card, 200) });

const FormField = strict({
  ...field,
  label: text(1000, 1),
  'description?': text(300),
  'format?': matching('^(email|uri|date|date-time|time|x-[a-z][a-z0-9-]*)$', 64),
});

const FormTemplate = strict({
  templateId: PackName,
  version: Version,
  label: text(200, 1),
  title: text(1000, 1),
  fields: some(FormField, 200),
  'description?': text(300),
  'category?': text(64),
});

export const FormContentPackManifest = manifestOf('form-content', { templates: some(FormTemplate, 100) });

const UiPlugin = strict({
  pluginId: matching('^[a-z][a-z0-9-]{0,63}$'),
  surface: Type.Enum(['artifact-viewer', 'route', 'settings-panel']),
  entry: matching('^[A-Za-z0-9][A-Za-z0-9._/-]{0,255}$'),
  hostApi: set(Type.Enum(['artifact.read', 'artifact.write', 'host.toast', 'host.navigate']), 4),
  'connectSrc?': set(Address, 50),
});

/** Closed, as the protocol requires: no dependencies, and no `signing`, since its files are signed separately. */
export const FrontendPluginPackManifest = strict({
  name: identity.name,
  version: identity.version,
  kind: Type.Literal('frontend-plugin'),
  'description?': identity['description?'],
  'author?': identity['author?'],
  'license?': identity['license?'],
  'homepage?': identity['homepage?'],
  engines: strict(identity.engines.properties),
  uiPlugins: some(UiPlugin, 50),
});

const PromptVariable = strict({
  name: matching('^[a-zA-Z_][a-zA-Z0-9_]{0,63}$'),
  type: Type.Enum(['string', 'number', 'boolean', 'array', 'object']),
  required: Flag,
  'source?': Type.Enum(['input', 'variable', 'secret', 'context']),
  'extractPath?': text(512),
  'defaultValue?': Type.Unknown(),
  'description?': text(500),
});

export const PromptTemplate = strict({
  templateId: matching('^[a-z0-9][a-z0-9._-]{0,127}$'),
  version: Version,
  kind: Type.Enum(['system', 'user', 'few-shot', 'schema-hint']),
  text: text(65_536),
  'name?': text(200),
  'description?': text(2000),
  'variables?': list(PromptVariable, 200),
  'modelHints?': strict({
    'modelClass?': text(64),
    'temperature?': Temperature,
    'maxTokens?': Tokens,
    'envelopeType?': text(256),
  }),
  'tags?': list(text(64, 1), 32),
  'meta?': strict({
    'author?': text(256),
    'createdAt?': text(64),
    'updatedAt?': text(64),
    'source?': Type.Enum(['host', 'pack', 'user']),
    'packName?': PackName,
    'packVersion?': Version,
  }),
});
export type PromptTemplate = Static<typeof PromptTemplate>;

export const PromptPackManifest = manifestOf('prompt', { prompts: some(PromptTemplate, 500) });

const ScopeGroups = list(
  strict({ key: matching('^[a-z][a-z0-9._-]*$', 128), label: Label, scopes: Scopes }),
  100,
);

const CATEGORIES =
  'communication docs crm dev storage email-calendar ticketing data-warehouse marketing finance hr esignature support project-management payments other';

const Auth = strict({
  kind: Type.Enum(['oauth2', 'api_key', 'bearer', 'basic']),
  'authFlow?': Type.Enum(['pkce', 'client_credentials', 'manual', 'none']),
  'scopeModel?': Type.Enum(['groups', 'coarse', 'capabilities']),
  'endpoints?': strict({ 'authorize?': HttpsAddress, 'token?': HttpsAddress, 'revoke?': HttpsAddress }),
  'scopes?': strict({ 'read?': ScopeGroups, 'write?': ScopeGroups }),
  'instanceUrlTemplate?': text(2048),
});

const McpServer = strict({ url: HttpsAddress, transport: Type.Enum(['http', 'sse']) });

/** Exactly one way to reach the provider. */
const Reach = strict(
  {
    'mcp?': strict({ server: McpServer }),
    'openapi?': strict({ ref: text(2048, 1) }),
    'integration?': strict({ node: TypeId }),
  },
  { minProperties: 1, maxProperties: 1 },
);

export const Provider = strict({
  id: matching('^[a-z][a-z0-9-]*$', 128),
  displayName: Label,
  category: Type.Enum(CATEGORIES.split(' ')),
  auth: Auth,
  reach: Reach,
  'consumerNodes?': list(TypeId, 100),
  'docsUrl?': Address,
  /** The only hosts that get credentials of this provider; the rule is in `rules-by-kind.ts`. */
  'apiHosts?': list(text(253, 1), 100, { minItems: 1, uniqueItems: true }),
  'vendor?': Data,
});
export type Provider = Static<typeof Provider>;

export const ConnectionPackManifest = manifestOf('connection', { provider: Provider });
