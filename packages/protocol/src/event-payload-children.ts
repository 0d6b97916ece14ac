import Type from 'typebox';
import { RunError } from './run.ts';
import { Count, closedObject, optional, Positive, Text } from './schema.ts';

const Confidence = Type.Number({ minimum: 0, maximum: 1 });
const AgentId = Type.String({ minLength: 3, maxLength: 256 });
const Decision = Type.Object({ kind: Type.Enum(['next-worker', 'ask-user', 'terminate']) });

export const CHILD_EVENT_PAYLOADS = {
  'runOrchestrator.decided': Type.Object({
    agentId: AgentId,
    decision: Decision,
    iteration: optional(Positive),
  }),
  'node.dispatched': Type.Object({
    childRunId: Text,
    childWorkflowId: Text,
    childStatus: optional(Type.String()),
  }),
  'core.workflowChain.event': Type.Object({
    phase: Type.Enum([
      'dispatch.began',
      'dispatch.succeeded',
      'dispatch.failed',
      'child.completed',
      'child.failed',
      'child.cancelled',
      'output.harvested',
    ]),
    workerId: Text,
    parentRunId: Text,
    childRunId: optional(Text),
    harvestedKeys: optional(Type.Array(Type.String())),
    attestation: optional(Type.Object({ checksum: Text, algorithm: Type.Literal('sha256') })),
    error: optional(RunError),
  }),
  'core.workflowChain.confidence-escalated': Type.Object({
    confidence: Confidence,
    floor: Type.Number({ minimum: 0.5, maximum: 1 }),
    escalationKind: Type.Enum(['clarify', 'escalate']),
    parentRunId: Text,
    workerId: optional(Text),
    originalDecision: optional(Decision),
  }),
} as const;

/** RFC 0118, which is active; older public schemas do not list these events. Closed, as the RFC requires. */
export const DISPATCH_EVENT_PAYLOADS = {
  'core.dispatch.fanOut': closedObject({
    fanOutPolicy: Type.Literal('parallel'),
    childCount: Type.Integer({ minimum: 2 }),
    maxConcurrency: optional(Positive),
    joinMode: optional(Type.Enum(['wait-all', 'quorum', 'first', 'race'])),
  }),
  /** `mergeOrder` is the order in which the parent processed the ends of its children; the last one wins. */
  'core.dispatch.join': closedObject({
    joinOutcome: Type.Enum(['satisfied', 'failed', 'partial']),
    completedCount: Count,
    failedCount: Count,
    cancelledCount: optional(Count),
    mergeOrder: Type.Array(Type.String()),
  }),
} as const;
