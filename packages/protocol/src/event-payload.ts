import Type, { type Static } from 'typebox';
import type { EventType } from './event-catalogue.ts';
import { CHILD_EVENT_PAYLOADS } from './event-payload-children.ts';
import { INTERRUPT_EVENT_PAYLOADS } from './event-payload-interrupt.ts';
import { DEAD_LETTER_EVENT_PAYLOADS } from './resources/dead-letters.ts';
import { DrainPolicy, RunError, RunOwner } from './run.ts';
import { Count, closedObject, optional, Positive, Text, Values } from './schema.ts';

/** Like `RunSnapshot.error`, with a hint on whether the attempt may be repeated. */
const FailedWith = Type.Object({ ...RunError.properties, retryable: optional(Type.Boolean()) });

const CAP_KINDS = [
  'clarification',
  'schema',
  'envelopes',
  'node-executions',
  'run-duration',
  'loop-iterations',
  'dispatch-iterations',
  'orchestrator-iterations',
  'wasm-memory',
  'wasm-fuel',
  'wasm-execution-time',
  'budget-tokens',
  'budget-cost',
  'budget-tool-calls',
  'budget-retries',
] as const;

const ChunkMeta = closedObject({
  finishReason: optional(Type.Enum(['stop', 'length', 'tool_calls', 'content_filter'])),
  logprobs: optional(Type.Array(Type.Unknown())),
  toolCalls: optional(Type.Array(Type.Unknown())),
  model: optional(Type.String()),
  usage: optional(
    Type.Object({
      promptTokens: optional(Count),
      completionTokens: optional(Count),
      totalTokens: optional(Count),
    }),
  ),
  provider: optional(Type.String()),
  providerExtensions: optional(Values),
});

/** Payloads of the events that the engine writes. Open: readers ignore unknown members. */
export const EVENT_PAYLOADS = {
  /** `value` is the written value, not the resulting value of the channel. With a `ttlMs` it is `{ value, _ts }`. */
  'channel.written': Type.Object({
    channel: Type.String({ minLength: 1, maxLength: 256 }),
    value: Type.Unknown(),
    reducer: Text,
    writtenAt: Text,
    nodeId: optional(Text),
    schemaVersion: optional(Positive),
    sourceEngineId: optional(Text),
    sourceRunId: optional(Text),
  }),
  'version.pinned': Type.Object({ changeId: Text, version: Count }),
  ...CHILD_EVENT_PAYLOADS,
  ...DEAD_LETTER_EVENT_PAYLOADS,
  ...INTERRUPT_EVENT_PAYLOADS,
  'run.started': Type.Object({
    workflowId: Text,
    inputs: optional(Values),
    transport: optional(Type.Enum(['rest', 'mcp', 'a2a', 'ui'])),
    engineVersion: optional(Type.String()),
    owner: optional(RunOwner),
    tags: optional(Type.Array(Type.String())),
    metadata: optional(Values),
  }),
  'run.completed': Type.Object({ outputs: optional(Values), durationMs: optional(Count) }),
  'run.failed': Type.Object({
    error: FailedWith,
    failedNodeId: optional(Type.String()),
    durationMs: optional(Count),
  }),
  'run.cancelled': Type.Object({
    reason: optional(Type.String()),
    cancelledBy: optional(Type.String()),
    durationMs: optional(Count),
    /** Only if the parent run was cancelled. */
    parentRunId: optional(Text),
  }),
  'run.paused': Type.Object({ reason: optional(Type.String()), drainPolicy: DrainPolicy }),
  'run.resumed': Type.Object({ reason: optional(Type.String()) }),
  'artifact.created': Type.Object({
    artifactId: Text,
    artifactType: Text,
    nodeId: optional(Text),
    version: optional(Text),
    summary: optional(Type.String()),
    registered: optional(Type.Boolean()),
    registrationSource: optional(Type.Enum(['pack', 'host'])),
    /** The key that stored the artifact, if a caller did. */
    registeredBy: optional(Text),
  }),
  'node.started': Type.Object({ nodeId: Text, typeId: Text, attempt: optional(Count) }),
  'node.completed': Type.Object({ nodeId: Text, outputs: optional(Values), durationMs: optional(Count) }),
  'node.failed': Type.Object({ nodeId: Text, error: FailedWith, attempts: optional(Positive) }),
  'node.retried': Type.Object({
    nodeId: Text,
    attempt: Positive,
    delayMs: optional(Count),
    lastError: optional(FailedWith),
  }),
  'node.skipped': Type.Object({ nodeId: Text, reason: optional(Type.String()) }),
  'node.cancelled': Type.Object({ nodeId: Text, reason: optional(Type.String()) }),
  'variable.changed': Type.Object({
    name: Text,
    previous: optional(Type.Unknown()),
    next: optional(Type.Unknown()),
    nodeId: optional(Type.String()),
  }),
  'log.appended': Type.Object({
    level: Type.Enum(['debug', 'info', 'warn', 'error']),
    message: Type.String(),
    nodeId: optional(Type.String()),
    fields: optional(Values),
  }),
  'workflow.loopback-limit': Type.Object({
    nodeId: Type.String(),
    iterations: Positive,
    limit: optional(Positive),
  }),
  'workflow.stalled': Type.Object({ stalledForMs: optional(Count), lastNodeId: optional(Type.String()) }),
  'connector.authorized': Type.Object({
    provider: Text,
    credentialRef: Text,
    scopes: optional(Type.Array(Type.String())),
  }),
  'connector.auth_expired': Type.Object({
    provider: Text,
    credentialRef: Text,
    reason: optional(Type.String()),
  }),
  'cap.breached': Type.Object({
    kind: Type.Enum([...CAP_KINDS]),
    limit: Type.Number({ minimum: 0 }),
    observed: Type.Number({ minimum: 0 }),
    nodeId: optional(Type.String()),
  }),
  'output.chunk': Type.Object({
    nodeId: Text,
    runId: Text,
    chunk: Type.String(),
    isLast: Type.Boolean(),
    channel: optional(Type.String()),
    meta: optional(ChunkMeta),
  }),
  'replay.diverged': Type.Object({
    sourceRunId: Text,
    atSequence: Count,
    originalEventId: optional(Type.String()),
    divergenceKind: optional(Type.Enum(['output', 'missing', 'extra', 'type-mismatch'])),
    /** The type of the event that differed. */
    divergencePoint: optional(Type.String()),
  }),
} as const satisfies { [T in EventType]?: unknown };

export type EventPayloads = { [T in keyof typeof EVENT_PAYLOADS]: Static<(typeof EVENT_PAYLOADS)[T]> };
