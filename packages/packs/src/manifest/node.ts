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

/**
 * The closed vocabulary of `runtime.requires`. A token that was added to the protocol later is refused: a host must
 * not grant what it does not know.
 */
export const RUNTIME_REQUIREMENTS = [
  'net.dns',
  'net.outbound',
  'crypto',
  'subprocess',
  'fs.read',
  'fs.write',
  'env.read',
  'clock',
] as const;
/** Only the operator can grant this, not a tenant. */
export const OPERATOR_REQUIREMENT = 'env.read';
const RuntimeRequirement = Type.Enum([...RUNTIME_REQUIREMENTS]);
export type RuntimeRequirement = (typeof RUNTIME_REQUIREMENTS)[number];

const RUNTIME_LANGUAGES = ['javascript', 'python', 'go', 'wasm', 'wasm-component', 'remote'] as const;
export type RuntimeLanguage = (typeof RUNTIME_LANGUAGES)[number];

const Pages = Type.Integer({ minimum: 0, maximum: 65_536 });

const Runtime = strict({
  language: Type.Enum([...RUNTIME_LANGUAGES]),
  entry: text(2048, 1),
  'format?': Type.Enum(['esm', 'cjs', 'wheel', 'binary', 'shared-library', 'wasm', 'wasm-component']),
  'minRuntimeVersion?': text(64),
  'requires?': set(RuntimeRequirement, 8),
  'wasm?': strict({ abiVersion: AtLeastOne, 'memoryPagesInitial?': Pages, 'memoryPagesMax?': Pages }),
});

/** A grant covers itself and tokens that are later split from it. A narrower grant never covers its parent. */
export const covers = (grant: string, requirement: string): boolean =>
  requirement === grant || requirement.startsWith(`${grant}.`);

const SecretRequirement = strict({
  id: Label,
  kind: Type.Enum(['ai-provider', 'api-key', 'oauth-token', 'custom']),
  'provider?': Label,
  'scope?': Type.Enum(['tenant', 'user', 'run']),
});

/** Properties of a node or a chain. */
export const Capability = Type.Enum(['streamable', 'cacheable', 'side-effectful', 'mcp-exportable']);
export const SyncOn = Type.Enum(['completion', 'approval', 'manual']);

/** Category and role are open: published packs use names that the public schema does not list. */
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

/** An OAuth2 declaration or a stored credential; a rule checks the members for each type. */
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
