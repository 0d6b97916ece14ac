import Type, { type Static } from 'typebox';
import { AgentManifest } from './agent.ts';
import { Data, FileRef, Label, ModelCapabilities, manifestOf, strict, Text, TypeId } from './fields.ts';
import { Runtime } from './runtime.ts';

const CredentialScope = Type.Enum(['user', 'workspace', 'tenant']);

const SecretRequirement = strict({
  id: Label,
  kind: Type.Enum(['ai-provider', 'api-key', 'oauth-token', 'custom']),
  provider: Type.Optional(Label),
  scope: Type.Optional(Type.Enum(['tenant', 'user', 'run'])),
});

const CredentialRequirement = strict({
  key: Label,
  scope: Type.Optional(CredentialScope),
  displayName: Type.Optional(Label),
});

const NodeAuth = strict({
  type: Type.Enum(['oauth2']),
  provider: Label,
  scopes: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 })),
});

/** Open category and role: published packs use names that the public schema does not list. */
const PackNode = strict({
  typeId: TypeId,
  version: Type.String({ minLength: 1, maxLength: 128 }),
  label: Type.Optional(Label),
  description: Type.Optional(Text),
  category: Type.String({ minLength: 1, maxLength: 64 }),
  role: Type.String({ minLength: 1, maxLength: 64 }),
  capabilities: Type.Optional(
    Type.Array(Type.Enum(['streamable', 'cacheable', 'side-effectful', 'mcp-exportable']), {
      uniqueItems: true,
      maxItems: 4,
    }),
  ),
  requires: Type.Optional(Type.Array(Label, { uniqueItems: true, maxItems: 50 })),
  configSchemaRef: Type.Optional(FileRef),
  inputSchemaRef: Type.Optional(FileRef),
  outputSchemaRef: Type.Optional(FileRef),
  envelopeContractRef: Type.Optional(FileRef),
  outputs: Type.Optional(Type.Record(Type.String(), Data)),
  artifact: Type.Optional(
    strict({
      typeId: Type.Optional(TypeId),
      syncOn: Type.Optional(Type.Enum(['completion', 'approval', 'manual'])),
      supportsCheckpoint: Type.Optional(Type.Boolean()),
    }),
  ),
  mcp: Type.Optional(strict({ exposeAsTool: Type.Optional(Type.Boolean()), toolName: Type.Optional(Label) })),
  requiresSecrets: Type.Optional(Type.Array(SecretRequirement, { maxItems: 50 })),
  requiredCredentials: Type.Optional(Type.Array(CredentialRequirement, { maxItems: 50 })),
  auth: Type.Optional(NodeAuth),
  requiredModelCapabilities: Type.Optional(ModelCapabilities),
  fallbackModel: Type.Optional(
    strict({ provider: Type.String({ pattern: '^[a-z][a-z0-9-]*$' }), model: Label }),
  ),
});

/** Either an OAuth2 declaration or a stored credential; which members go with which type is a rule. */
const ConnectorAuth = strict({
  type: Type.Enum(['oauth2', 'credential']),
  provider: Type.Optional(Label),
  scopes: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 })),
  key: Type.Optional(Label),
  scope: Type.Optional(CredentialScope),
});

const ConnectorAction = strict({
  typeId: TypeId,
  displayName: Label,
  idempotent: Type.Optional(Type.Boolean()),
  paginated: Type.Optional(Type.Boolean()),
  rateLimit: Type.Optional(
    strict({
      requests: Type.Optional(Type.Integer({ minimum: 1 })),
      perSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
  ),
});

const Connector = strict({
  id: Type.String({ maxLength: 128, pattern: '^[a-z][a-z0-9.-]*$' }),
  displayName: Label,
  auth: Type.Optional(ConnectorAuth),
  actions: Type.Optional(Type.Array(ConnectorAction, { maxItems: 500 })),
  triggers: Type.Optional(Type.Array(TypeId, { maxItems: 500 })),
});

export const NodePackManifest = manifestOf('node', {
  nodes: Type.Optional(Type.Array(PackNode, { maxItems: 500 })),
  agents: Type.Optional(Type.Array(AgentManifest, { maxItems: 100 })),
  runtime: Runtime,
  connector: Type.Optional(Connector),
});
export type NodePackManifest = Static<typeof NodePackManifest>;
