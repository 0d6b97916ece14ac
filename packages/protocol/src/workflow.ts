import Type, { type Static } from 'typebox';
import { WorkflowPacks } from './pack.ts';

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1 });

export const PortValue = Type.Union([
  Type.Object({ type: Type.Literal('static'), value: Type.Unknown() }, closed),
  Type.Object({ type: Type.Literal('expression'), expression: Name }, closed),
  Type.Object(
    {
      type: Type.Literal('connection'),
      nodeId: Name,
      outputKey: Name,
      optional: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('variable'), variableName: Name, optional: Type.Optional(Type.Boolean()) },
    closed,
  ),
]);
export type PortValue = Static<typeof PortValue>;

export const EdgeCondition = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['expression', 'equals', 'notEquals', 'contains', 'regex', 'truthy', 'falsy']),
    ),
    left: Type.Optional(Type.String()),
    right: Type.Optional(Type.Unknown()),
    expression: Type.Optional(Type.String()),
  },
  closed,
);
export type EdgeCondition = Static<typeof EdgeCondition>;

export const TriggerRule = Type.Enum([
  'all_success',
  'any_success',
  'all_complete',
  'none_failed',
  'any_failed',
]);
export type TriggerRule = Static<typeof TriggerRule>;

export const WorkflowNode = Type.Object(
  {
    id: Name,
    typeId: Type.String({ minLength: 1, pattern: '^[a-z][a-zA-Z0-9._-]*$' }),
    name: Name,
    position: Type.Object({ x: Type.Number(), y: Type.Number() }),
    config: Type.Record(Type.String(), Type.Unknown()),
    inputs: Type.Record(Type.String(), PortValue),
    credentialsRef: Type.Optional(Type.String()),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    outputRole: Type.Optional(Type.Enum(['primary', 'secondary'])),
    disabled: Type.Optional(Type.Boolean()),
    notes: Type.Optional(Type.String()),
    groupId: Type.Optional(Type.String()),
    agent: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    envelopeContract: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    artifactType: Type.Optional(Type.String()),
    cardType: Type.Optional(Type.String()),
    outputSensitivity: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
    compensation: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    irreversibleEffect: Type.Optional(Type.Unknown()),
  },
  closed,
);
export type WorkflowNode = Static<typeof WorkflowNode>;

export const WorkflowEdge = Type.Object(
  {
    id: Name,
    sourceNodeId: Name,
    sourceOutput: Type.Optional(Type.String()),
    targetNodeId: Name,
    targetInput: Type.Optional(Type.String()),
    condition: Type.Optional(EdgeCondition),
    label: Type.Optional(Type.String()),
    triggerRule: Type.Optional(TriggerRule),
  },
  closed,
);
export type WorkflowEdge = Static<typeof WorkflowEdge>;

export const WorkflowTrigger = Type.Object(
  {
    id: Name,
    type: Type.Enum([
      'manual',
      'schedule',
      'webhook',
      'event',
      'artifact',
      'canvas',
      'envelope',
      'command',
      'chat-message',
      'channel-write',
    ]),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    enabled: Type.Optional(Type.Boolean()),
    nodeId: Type.Optional(Type.String()),
    eventType: Type.Optional(Type.String()),
  },
  closed,
);

export const WorkflowVariable = Type.Object(
  {
    name: Name,
    type: Type.Enum(['string', 'number', 'boolean', 'object', 'array']),
    description: Type.Optional(Type.String()),
    required: Type.Optional(Type.Boolean()),
    defaultValue: Type.Optional(Type.Unknown()),
    sensitive: Type.Optional(Type.Boolean()),
    format: Type.Optional(Type.String()),
  },
  closed,
);
export type WorkflowVariable = Static<typeof WorkflowVariable>;

const Size = Type.Object({ width: Type.Number(), height: Type.Number() });
const Position = Type.Object({ x: Type.Number(), y: Type.Number() });

export const NodeGroup = Type.Object(
  {
    id: Name,
    name: Name,
    color: Type.Optional(Type.String()),
    collapsed: Type.Optional(Type.Boolean()),
    nodeIds: Type.Array(Type.String()),
    position: Position,
    size: Size,
  },
  closed,
);

const AccessList = Type.Array(
  Type.String({ minLength: 1, maxLength: 256, pattern: '^([a-z][a-zA-Z0-9._-]*\\*?|\\*)$' }),
  { maxItems: 256, uniqueItems: true },
);

export type ChannelDeclaration = Static<typeof ChannelDeclaration>;
export const ChannelDeclaration = Type.Object(
  {
    reducer: Type.String({
      pattern:
        '^(replace|append|merge|counter|votes|feedback|message|vendor\\.[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_-]*)$',
    }),
    schema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    default: Type.Optional(Type.Unknown()),
    maxSize: Type.Optional(Type.Integer({ minimum: 1 })),
    ttlMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
    options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    access: Type.Optional(
      Type.Union([
        Type.Literal('public'),
        Type.Literal('private'),
        Type.Object({ readers: Type.Optional(AccessList), writers: Type.Optional(AccessList) }, closed),
      ]),
    ),
    schemaVersion: Type.Optional(Type.Integer({ minimum: 1 })),
    compatibleWith: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { uniqueItems: true })),
    sensitive: Type.Optional(Type.Boolean()),
  },
  closed,
);

export const MaskingMode = Type.Enum(['mask', 'omit', 'hash', 'passthrough']);
export type MaskingMode = Static<typeof MaskingMode>;

export const WorkflowMetadata = Type.Object({
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 })),
  complianceClass: Type.Optional(Type.Enum(['public', 'pii', 'phi', 'pci', 'regulated'])),
  complianceConfig: Type.Optional(Type.Object({ maskingMode: Type.Optional(MaskingMode) })),
});

export const WorkflowSettings = Type.Object({
  timeout: Type.Optional(Type.Integer({ minimum: 0 })),
  maxRetries: Type.Optional(Type.Integer({ minimum: 0 })),
  logLevel: Type.Optional(Type.Enum(['debug', 'info', 'warn', 'error'])),
  maxLoopbackIterations: Type.Optional(Type.Integer({ minimum: 1 })),
});

const PromptRef = Type.Optional(Type.Unknown());
export const WorkflowDefaults = Type.Object(
  {
    promptRefs: Type.Optional(
      Type.Object(
        { system: PromptRef, user: PromptRef, 'few-shot': PromptRef, 'schema-hint': PromptRef },
        closed,
      ),
    ),
  },
  closed,
);

/** A workflow as authors write it: closed objects, open `metadata` and `settings`. */
export const WorkflowDefinition = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-z][a-z0-9_-]*$' }),
    name: Type.String({ minLength: 1, maxLength: 256 }),
    description: Type.Optional(Type.String()),
    version: Name,
    type: Type.Optional(Type.String()),
    isActive: Type.Optional(Type.Boolean()),
    status: Type.Optional(Type.Enum(['active', 'inactive', 'draft', 'archived'])),
    tenantId: Type.Optional(Type.String()),
    scopeId: Type.Optional(Type.String()),
    slug: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]*$' })),
    nodes: Type.Array(WorkflowNode, { minItems: 1 }),
    edges: Type.Array(WorkflowEdge),
    triggers: Type.Array(WorkflowTrigger),
    variables: Type.Array(WorkflowVariable),
    groups: Type.Optional(Type.Array(NodeGroup)),
    channels: Type.Optional(Type.Record(Type.String(), ChannelDeclaration)),
    /** Which packs serve its node types, where the host is not to choose. */
    packs: Type.Optional(WorkflowPacks),
    configurableSchema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    defaults: Type.Optional(WorkflowDefaults),
    acceptsInheritedArtifacts: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    metadata: WorkflowMetadata,
    settings: WorkflowSettings,
    createdAt: Type.Optional(Type.String()),
    updatedAt: Type.Optional(Type.String()),
  },
  closed,
);
export type WorkflowDefinition = Static<typeof WorkflowDefinition>;
