import Type, { type Static } from 'typebox';
import { BudgetPolicy } from './budget.ts';
import { WorkflowPacks } from './pack.ts';
import { Count, closedObject, optional, Positive, Text, Values } from './schema.ts';

export const PortValue = Type.Union([
  closedObject({ type: Type.Literal('static'), value: Type.Unknown() }),
  closedObject({ type: Type.Literal('expression'), expression: Text }),
  closedObject({
    type: Type.Literal('connection'),
    nodeId: Text,
    outputKey: Text,
    optional: optional(Type.Boolean()),
  }),
  closedObject({ type: Type.Literal('variable'), variableName: Text, optional: optional(Type.Boolean()) }),
]);
export type PortValue = Static<typeof PortValue>;

export const EdgeCondition = closedObject({
  type: optional(Type.Enum(['expression', 'equals', 'notEquals', 'contains', 'regex', 'truthy', 'falsy'])),
  left: optional(Type.String()),
  right: optional(Type.Unknown()),
  expression: optional(Type.String()),
});
export type EdgeCondition = Static<typeof EdgeCondition>;

export const TriggerRule = Type.Enum([
  'all_success',
  'any_success',
  'all_complete',
  'none_failed',
  'any_failed',
]);
export type TriggerRule = Static<typeof TriggerRule>;

const Position = Type.Object({ x: Type.Number(), y: Type.Number() });

export const WorkflowNode = closedObject({
  id: Text,
  typeId: Type.String({ minLength: 1, pattern: '^[a-z][a-zA-Z0-9._-]*$' }),
  name: Text,
  position: Position,
  config: Values,
  inputs: Type.Record(Type.String(), PortValue),
  credentialsRef: optional(Type.String()),
  settings: optional(Values),
  outputRole: optional(Type.Enum(['primary', 'secondary'])),
  disabled: optional(Type.Boolean()),
  notes: optional(Type.String()),
  groupId: optional(Type.String()),
  agent: optional(Values),
  envelopeContract: optional(Values),
  artifactType: optional(Type.String()),
  cardType: optional(Type.String()),
  outputSensitivity: optional(Type.Record(Type.String(), Type.Boolean())),
  compensation: optional(Values),
  irreversibleEffect: optional(Type.Unknown()),
});
export type WorkflowNode = Static<typeof WorkflowNode>;

export const WorkflowEdge = closedObject({
  id: Text,
  sourceNodeId: Text,
  sourceOutput: optional(Type.String()),
  targetNodeId: Text,
  targetInput: optional(Type.String()),
  condition: optional(EdgeCondition),
  label: optional(Type.String()),
  triggerRule: optional(TriggerRule),
});
export type WorkflowEdge = Static<typeof WorkflowEdge>;

export const WorkflowTrigger = closedObject({
  id: Text,
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
  name: optional(Type.String()),
  description: optional(Type.String()),
  config: optional(Values),
  enabled: optional(Type.Boolean()),
  nodeId: optional(Type.String()),
  eventType: optional(Type.String()),
});

export const WorkflowVariable = closedObject({
  name: Text,
  type: Type.Enum(['string', 'number', 'boolean', 'object', 'array']),
  description: optional(Type.String()),
  required: optional(Type.Boolean()),
  defaultValue: optional(Type.Unknown()),
  sensitive: optional(Type.Boolean()),
  format: optional(Type.String()),
});
export type WorkflowVariable = Static<typeof WorkflowVariable>;

export const NodeGroup = closedObject({
  id: Text,
  name: Text,
  color: optional(Type.String()),
  collapsed: optional(Type.Boolean()),
  nodeIds: Type.Array(Type.String()),
  position: Position,
  size: Type.Object({ width: Type.Number(), height: Type.Number() }),
});

const AccessList = Type.Array(
  Type.String({ minLength: 1, maxLength: 256, pattern: '^([a-z][a-zA-Z0-9._-]*\\*?|\\*)$' }),
  { maxItems: 256, uniqueItems: true },
);

export type ChannelDeclaration = Static<typeof ChannelDeclaration>;
export const ChannelDeclaration = closedObject({
  reducer: Type.String({
    pattern:
      '^(replace|append|merge|counter|votes|feedback|message|vendor\\.[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_-]*)$',
  }),
  schema: optional(Values),
  default: optional(Type.Unknown()),
  maxSize: optional(Positive),
  ttlMs: optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
  options: optional(Values),
  access: optional(
    Type.Union([
      Type.Literal('public'),
      Type.Literal('private'),
      closedObject({ readers: optional(AccessList), writers: optional(AccessList) }),
    ]),
  ),
  schemaVersion: optional(Positive),
  compatibleWith: optional(Type.Array(Positive, { maxItems: 256, uniqueItems: true })),
  sensitive: optional(Type.Boolean()),
});

export const MaskingMode = Type.Enum(['mask', 'omit', 'hash', 'passthrough']);
export type MaskingMode = Static<typeof MaskingMode>;

export const WorkflowMetadata = Type.Object({
  tags: optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 })),
  complianceClass: optional(Type.Enum(['public', 'pii', 'phi', 'pci', 'regulated'])),
  complianceConfig: optional(Type.Object({ maskingMode: optional(MaskingMode) })),
});

export const WorkflowSettings = Type.Object({
  timeout: optional(Count),
  maxRetries: optional(Count),
  logLevel: optional(Type.Enum(['debug', 'info', 'warn', 'error'])),
  maxLoopbackIterations: optional(Positive),
  budget: optional(BudgetPolicy),
});

const PromptRef = optional(Type.Unknown());
export const WorkflowDefaults = closedObject({
  promptRefs: optional(
    closedObject({ system: PromptRef, user: PromptRef, 'few-shot': PromptRef, 'schema-hint': PromptRef }),
  ),
});

/** A workflow as authors write it: closed objects, open `metadata` and `settings`. */
export const WorkflowDefinition = closedObject({
  id: Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-z][a-z0-9_-]*$' }),
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description: optional(Type.String()),
  version: Text,
  type: optional(Type.String()),
  isActive: optional(Type.Boolean()),
  status: optional(Type.Enum(['active', 'inactive', 'draft', 'archived'])),
  tenantId: optional(Type.String()),
  scopeId: optional(Type.String()),
  slug: optional(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]*$' })),
  nodes: Type.Array(WorkflowNode, { minItems: 1 }),
  edges: Type.Array(WorkflowEdge),
  triggers: Type.Array(WorkflowTrigger),
  variables: Type.Array(WorkflowVariable),
  groups: optional(Type.Array(NodeGroup)),
  channels: optional(Type.Record(Type.String(), ChannelDeclaration)),
  /** The packs that serve its node types, if the host must not choose. */
  packs: optional(WorkflowPacks),
  /** A range of protocol versions that the workflow is made for. */
  engines: optional(closedObject({ openwop: Type.String({ minLength: 1, maxLength: 128 }) })),
  configurableSchema: optional(Values),
  defaults: optional(WorkflowDefaults),
  acceptsInheritedArtifacts: optional(Type.Array(Values)),
  metadata: WorkflowMetadata,
  settings: WorkflowSettings,
  createdAt: optional(Type.String()),
  updatedAt: optional(Type.String()),
});
export type WorkflowDefinition = Static<typeof WorkflowDefinition>;
