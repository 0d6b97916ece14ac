import Type, { type Static } from 'typebox';
import type { JsonObject } from './json.ts';
import { RUN_STATUSES } from './run-status.ts';

export { isTerminal, RUN_STATUSES } from './run-status.ts';

export const RunStatus = Type.Enum([...RUN_STATUSES]);
export type RunStatus = (typeof RUN_STATUSES)[number];

export const Owner = Type.Object(
  {
    tenant: Type.String({ minLength: 1 }),
    workspace: Type.Optional(Type.String({ minLength: 1 })),
    principal: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);
export type Owner = Static<typeof Owner>;

export const RunError = Type.Object(
  {
    code: Type.String({ minLength: 1 }),
    message: Type.String({ minLength: 1 }),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
export type RunError = { code: string; message: string; details?: JsonObject };

/** What a pause does with nodes at work: stop them, or let them finish (the default). */
export const DrainPolicy = Type.Enum(['immediate', 'drain-current-node']);
export type DrainPolicy = Static<typeof DrainPolicy>;

export const RUN_OPTION_LIMITS = {
  tagsMax: 100,
  tagLengthMax: 256,
  metadataBytesMax: 8192,
  metadataDepthMax: 4,
} as const;

/** Body of `POST /v1/runs`: closed as a whole. */
export const CreateRunRequest = Type.Object(
  {
    workflowId: Type.String({ minLength: 1, maxLength: 128 }),
    inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    tenantId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    scopeId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    callbackUrl: Type.Optional(Type.String({ maxLength: 2048, format: 'uri' })),
    residency: Type.Optional(Type.Unknown()),
    configurable: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: RUN_OPTION_LIMITS.tagLengthMax }), {
        maxItems: RUN_OPTION_LIMITS.tagsMax,
      }),
    ),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    mode: Type.Optional(Type.Literal('eval')),
    evalSuiteRef: Type.Optional(Type.Unknown()),
    agentId: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type CreateRunRequest = Static<typeof CreateRunRequest>;

export const CreateRunResponse = Type.Object({
  runId: Type.String(),
  status: RunStatus,
  eventsUrl: Type.String(),
  statusUrl: Type.String(),
});
export type CreateRunResponse = Static<typeof CreateRunResponse>;

/** The cost of a run so far; model and provider are those of the last call. */
export const OpenwopCost = Type.Object(
  {
    usd: Type.Optional(Type.Number({ minimum: 0 })),
    tokens: Type.Optional(
      Type.Object(
        {
          input: Type.Optional(Type.Integer({ minimum: 0 })),
          output: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        { additionalProperties: false },
      ),
    ),
    model: Type.Optional(Type.String()),
    provider: Type.Optional(Type.String()),
    duration_ms: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
export type OpenwopCost = Static<typeof OpenwopCost>;

/** What `GET /v1/runs/{runId}` answers. */
export const RunSnapshot = Type.Object({
  runId: Type.String({ minLength: 1, maxLength: 128 }),
  workflowId: Type.String({ minLength: 1 }),
  status: RunStatus,
  owner: Type.Optional(Owner),
  currentNodeId: Type.Optional(Type.String()),
  startedAt: Type.Optional(Type.String()),
  completedAt: Type.Optional(Type.String()),
  nodeStates: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  outputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  variables: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  channels: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  error: Type.Optional(RunError),
  parentRunId: Type.Optional(Type.String()),
  parentNodeId: Type.Optional(Type.String()),
  /** The run that this one was forked from. */
  sourceRunId: Type.Optional(Type.String()),
  runOrchestrator: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  agent: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** The question that has been open longest. */
  interrupt: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  engineVersion: Type.Optional(Type.String()),
  eventLogSchemaVersion: Type.Optional(Type.Integer()),
  tags: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  configurable: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  metrics: Type.Optional(Type.Object({ openwopCost: Type.Optional(OpenwopCost) })),
});
export type RunSnapshot = Static<typeof RunSnapshot>;
