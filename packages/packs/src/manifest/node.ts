import Type, { type Static } from 'typebox';
import { AgentManifest } from './agent.ts';
import { closed, Data, FileRef, identity, Label, ModelCapabilities, Text, TypeId } from './fields.ts';
import { Runtime } from './runtime.ts';

const CredentialScope = Type.Enum(['user', 'workspace', 'tenant']);

const SecretRequirement = Type.Object(
  {
    id: Label,
    kind: Type.Enum(['ai-provider', 'api-key', 'oauth-token', 'custom']),
    provider: Type.Optional(Label),
    scope: Type.Optional(Type.Enum(['tenant', 'user', 'run'])),
  },
  closed,
);

const CredentialRequirement = Type.Object(
  { key: Label, scope: Type.Optional(CredentialScope), displayName: Type.Optional(Label) },
  closed,
);

const NodeAuth = Type.Object(
  {
    type: Type.Enum(['oauth2']),
    provider: Label,
    scopes: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 })),
  },
  closed,
);

/** Open category and role: published packs use names that the public schema does not list. */
const PackNode = Type.Object(
  {
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
      Type.Object(
        {
          typeId: Type.Optional(TypeId),
          syncOn: Type.Optional(Type.Enum(['completion', 'approval', 'manual'])),
          supportsCheckpoint: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
    ),
    mcp: Type.Optional(
      Type.Object({ exposeAsTool: Type.Optional(Type.Boolean()), toolName: Type.Optional(Label) }, closed),
    ),
    requiresSecrets: Type.Optional(Type.Array(SecretRequirement, { maxItems: 50 })),
    requiredCredentials: Type.Optional(Type.Array(CredentialRequirement, { maxItems: 50 })),
    auth: Type.Optional(NodeAuth),
    requiredModelCapabilities: Type.Optional(ModelCapabilities),
    fallbackModel: Type.Optional(
      Type.Object({ provider: Type.String({ pattern: '^[a-z][a-z0-9-]*$' }), model: Label }, closed),
    ),
  },
  closed,
);

/** Either an OAuth2 declaration or a stored credential; which members go with which type is a rule. */
const ConnectorAuth = Type.Object(
  {
    type: Type.Enum(['oauth2', 'credential']),
    provider: Type.Optional(Label),
    scopes: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 })),
    key: Type.Optional(Label),
    scope: Type.Optional(CredentialScope),
  },
  closed,
);

const ConnectorAction = Type.Object(
  {
    typeId: TypeId,
    displayName: Label,
    idempotent: Type.Optional(Type.Boolean()),
    paginated: Type.Optional(Type.Boolean()),
    rateLimit: Type.Optional(
      Type.Object(
        {
          requests: Type.Optional(Type.Integer({ minimum: 1 })),
          perSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        closed,
      ),
    ),
  },
  closed,
);

const Connector = Type.Object(
  {
    id: Type.String({ maxLength: 128, pattern: '^[a-z][a-z0-9.-]*$' }),
    displayName: Label,
    auth: Type.Optional(ConnectorAuth),
    actions: Type.Optional(Type.Array(ConnectorAction, { maxItems: 500 })),
    triggers: Type.Optional(Type.Array(TypeId, { maxItems: 500 })),
  },
  closed,
);

export const NodePackManifest = Type.Object(
  {
    ...identity,
    kind: Type.Literal('node'),
    nodes: Type.Optional(Type.Array(PackNode, { maxItems: 500 })),
    agents: Type.Optional(Type.Array(AgentManifest, { maxItems: 100 })),
    runtime: Runtime,
    connector: Type.Optional(Connector),
  },
  closed,
);
export type NodePackManifest = Static<typeof NodePackManifest>;
