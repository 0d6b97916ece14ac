import Type, { type Static } from 'typebox';
import {
  Data,
  FileRef,
  Flag,
  Label,
  LongText,
  list,
  ModelCapabilities,
  manifestOf,
  matching,
  PackName,
  Scopes,
  set,
  strict,
  Text,
  TypeId,
  text,
} from './fields.ts';
import { Runtime } from './runtime.ts';

/** A prompt by its id, or with a library and overrides. */
const PromptRef = Type.Union([Label, Data]);

const AgentManifest = strict({
  agentId: PackName,
  persona: text(200, 1),
  modelClass: Type.Enum(['reasoning', 'writing', 'coding', 'research', 'classification', 'general']),
  'label?': text(100, 1),
  'description?': text(500),
  'role?': Type.Enum(['skill', 'assistant']),
  'systemPrompt?': LongText,
  'systemPromptRef?': FileRef,
  'evalSuiteRef?': FileRef,
  'toolAllowlist?': list(Label, 200),
  'requiresCapabilities?': set(Label, 50),
  'memoryShape?': strict({ 'scratchpad?': Flag, 'conversation?': Flag, 'longTerm?': Flag }),
  'confidence?': strict({ 'defaultThreshold?': Type.Number({ minimum: 0, maximum: 1 }) }),
  'handoff?': strict({ 'taskSchemaRef?': FileRef, 'returnSchemaRef?': FileRef }),
  'promptLibraryRef?': matching('^[a-z0-9][a-z0-9._-]{0,127}$'),
  'promptOverrides?': strict({
    'system?': PromptRef,
    'user?': PromptRef,
    'few-shot?': PromptRef,
    'schema-hint?': PromptRef,
  }),
});

const CredentialScope = Type.Enum(['user', 'workspace', 'tenant']);
const AtLeastOne = Type.Integer({ minimum: 1 });

const SecretRequirement = strict({
  id: Label,
  kind: Type.Enum(['ai-provider', 'api-key', 'oauth-token', 'custom']),
  'provider?': Label,
  'scope?': Type.Enum(['tenant', 'user', 'run']),
});

/** What a node or a chain may be. */
export const Capability = Type.Enum(['streamable', 'cacheable', 'side-effectful', 'mcp-exportable']);
export const SyncOn = Type.Enum(['completion', 'approval', 'manual']);

/** Open category and role: published packs use names that the public schema does not list. */
const PackNode = strict({
  typeId: TypeId,
  version: text(128, 1),
  category: text(64, 1),
  role: text(64, 1),
  'label?': Label,
  'description?': Text,
  'capabilities?': set(Capability, 4),
  'requires?': set(Label, 50),
  'configSchemaRef?': FileRef,
  'inputSchemaRef?': FileRef,
  'outputSchemaRef?': FileRef,
  'envelopeContractRef?': FileRef,
  'outputs?': Type.Record(Type.String(), Data),
  'artifact?': strict({ 'typeId?': TypeId, 'syncOn?': SyncOn, 'supportsCheckpoint?': Flag }),
  'mcp?': strict({ 'exposeAsTool?': Flag, 'toolName?': Label }),
  'requiresSecrets?': list(SecretRequirement, 50),
  'requiredCredentials?': list(strict({ key: Label, 'scope?': CredentialScope, 'displayName?': Label }), 50),
  'auth?': strict({ type: Type.Enum(['oauth2']), provider: Label, 'scopes?': Scopes }),
  'requiredModelCapabilities?': ModelCapabilities,
  'fallbackModel?': strict({ provider: matching('^[a-z][a-z0-9-]*$'), model: Label }),
});

/** Either an OAuth2 declaration or a stored credential; which members go with which type is a rule. */
const ConnectorAuth = strict({
  type: Type.Enum(['oauth2', 'credential']),
  'provider?': Label,
  'scopes?': Scopes,
  'key?': Label,
  'scope?': CredentialScope,
});

const ConnectorAction = strict({
  typeId: TypeId,
  displayName: Label,
  'idempotent?': Flag,
  'paginated?': Flag,
  'rateLimit?': strict({ 'requests?': AtLeastOne, 'perSeconds?': AtLeastOne }),
});

const Connector = strict({
  id: matching('^[a-z][a-z0-9.-]*$', 128),
  displayName: Label,
  'auth?': ConnectorAuth,
  'actions?': list(ConnectorAction, 500),
  'triggers?': list(TypeId, 500),
});

export const NodePackManifest = manifestOf('node', {
  runtime: Runtime,
  'nodes?': list(PackNode, 500),
  'agents?': list(AgentManifest, 100),
  'connector?': Connector,
});
export type NodePackManifest = Static<typeof NodePackManifest>;
