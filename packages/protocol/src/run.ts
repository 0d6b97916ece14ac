import Type, { type Static } from 'typebox';
import type { JsonObject } from './json.ts';
import { RUN_STATUSES } from './run-status.ts';
import { Count, closedObject, optional, Text, Values } from './schema.ts';

export { isTerminal, RUN_STATUSES } from './run-status.ts';

export const RunStatus = Type.Enum([...RUN_STATUSES]);
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RunOwner = closedObject({
  tenant: Text,
  workspace: optional(Text),
  principal: optional(Text),
});
export type RunOwner = Static<typeof RunOwner>;

export const RunError = closedObject({
  code: Text,
  message: Text,
  details: optional(Values),
});
export type RunError = { code: string; message: string; details?: JsonObject };

/** What a pause does with running nodes: stop them, or let them finish (the default). */
export const DrainPolicy = Type.Enum(['immediate', 'drain-current-node']);

export const RUN_OPTION_LIMITS = {
  tagsMax: 100,
  tagLengthMax: 256,
  metadataBytesMax: 8192,
  metadataDepthMax: 4,
} as const;

/** Body of `POST /v1/runs`. Closed. */
export const CreateRunRequest = closedObject({
  workflowId: Type.String({ minLength: 1, maxLength: 128 }),
  inputs: optional(Values),
  tenantId: optional(Type.String({ minLength: 1, maxLength: 128 })),
  scopeId: optional(Type.String({ minLength: 1, maxLength: 128 })),
  callbackUrl: optional(Type.String({ maxLength: 2048, format: 'uri' })),
  residency: optional(Type.Unknown()),
  configurable: optional(Values),
  tags: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: RUN_OPTION_LIMITS.tagLengthMax }), {
      maxItems: RUN_OPTION_LIMITS.tagsMax,
    }),
  ),
  metadata: optional(Values),
  mode: optional(Type.Literal('eval')),
  evalSuiteRef: optional(Type.Unknown()),
  agentId: optional(Type.String()),
});
export type CreateRunRequest = Static<typeof CreateRunRequest>;

/** Objects in `configurable` are merged into those of the run. */
export const RunAgainRequest = closedObject({
  inputs: optional(Values),
  configurable: optional(Values),
});
export type RunAgainRequest = Static<typeof RunAgainRequest>;

export const CreateRunResponse = Type.Object({
  runId: Type.String(),
  status: RunStatus,
  eventsUrl: Type.String(),
  statusUrl: Type.String(),
});
export type CreateRunResponse = Static<typeof CreateRunResponse>;

export const RunSummary = Type.Object({
  runId: Type.String(),
  workflowId: Type.String(),
  status: RunStatus,
  createdAt: Type.String(),
  endedAt: optional(Type.String()),
});
export type RunSummary = Static<typeof RunSummary>;

const Parent = Type.Object({ runId: Type.String(), hostId: Type.String(), cause: Type.String() });

/** The run that started this one; null if it was started from outside. */
export const Ancestry = Type.Object({
  runId: Type.String(),
  hostId: Type.String(),
  parent: Type.Union([Type.Null(), Parent]),
});
export type Ancestry = Static<typeof Ancestry>;

/** The cost of a run so far. Model and provider are those of the last call. */
export const OpenwopCost = closedObject({
  usd: optional(Type.Number({ minimum: 0 })),
  tokens: optional(
    closedObject({
      input: optional(Count),
      output: optional(Count),
    }),
  ),
  model: optional(Type.String()),
  provider: optional(Type.String()),
  duration_ms: optional(Count),
});
export type OpenwopCost = Static<typeof OpenwopCost>;

/** The response of `GET /v1/runs/{runId}`. */
export const RunSnapshot = Type.Object({
  runId: Type.String({ minLength: 1, maxLength: 128 }),
  workflowId: Text,
  status: RunStatus,
  owner: optional(RunOwner),
  currentNodeId: optional(Type.String()),
  startedAt: optional(Type.String()),
  completedAt: optional(Type.String()),
  nodeStates: optional(Values),
  inputs: optional(Values),
  outputs: optional(Values),
  variables: optional(Values),
  channels: optional(Values),
  error: optional(RunError),
  parentRunId: optional(Type.String()),
  parentNodeId: optional(Type.String()),
  /** Runs of nodes that called other workflows. */
  childRuns: optional(Type.Array(Type.Object({ runId: Type.String(), status: RunStatus }))),
  /** The run that this one was forked from. */
  sourceRunId: optional(Type.String()),
  runOrchestrator: optional(Values),
  agent: optional(Values),
  /** The question that has been open longest. */
  interrupt: optional(Values),
  engineVersion: optional(Type.String()),
  eventLogSchemaVersion: optional(Type.Integer()),
  tags: optional(Type.Array(Type.String())),
  metadata: optional(Values),
  configurable: optional(Values),
  metrics: optional(Type.Object({ openwopCost: optional(OpenwopCost) })),
});
export type RunSnapshot = Static<typeof RunSnapshot>;
