/** Payloads of the events of interrupts, conversations and mocked agents. */
import Type from 'typebox';
import { AgentId, INTERRUPT_KINDS, RefineFeedback } from './interrupt-data.ts';
import { RunError } from './run.ts';
import { Count, optional, Positive, Text, Values } from './schema.ts';

const ConversationId = Type.String({ minLength: 1, maxLength: 256 });

const Turn = Type.Object({
  messageId: ConversationId,
  from: ConversationId,
  content: Type.Unknown(),
  ts: Count,
  role: Type.Enum(['user', 'agent', 'system']),
  turnIndex: Count,
  speakerId: optional(ConversationId),
});

const Kind = Type.Enum([...INTERRUPT_KINDS]);

export const INTERRUPT_EVENT_PAYLOADS = {
  'node.suspended': Type.Object({
    nodeId: Text,
    interruptId: Text,
    kind: optional(Kind),
    key: optional(Text),
    reason: optional(Type.String()),
    agentId: optional(AgentId),
    threshold: optional(Type.Number()),
    observed: optional(Type.Number()),
  }),
  'node.resumed': Type.Object({
    nodeId: Text,
    interruptId: optional(Type.String()),
    resumeValue: optional(Type.Unknown()),
  }),
  'interrupt.requested': Type.Object({
    kind: Kind,
    key: Type.String({ minLength: 1, maxLength: 256 }),
    data: Values,
    resumeSchema: optional(Values),
    timeoutMs: optional(Count),
  }),
  'interrupt.resolved': Type.Object({
    nodeId: Type.String(),
    interruptId: Type.String(),
    kind: optional(Kind),
    resumeValue: optional(Type.Unknown()),
    resolvedAt: optional(Type.String()),
    resolvedBy: optional(Type.String()),
    outcome: optional(Type.String()),
    reason: optional(Type.String()),
  }),
  'approval.requested': Type.Object({
    nodeId: Type.String(),
    artifactId: Type.String(),
    artifactType: Type.String(),
    actions: Type.Array(Type.Enum(['accept', 'reject', 'refine', 'edit', 'ask']), { minItems: 1 }),
    interruptId: optional(Type.String()),
    title: optional(Type.String()),
    approversList: optional(Type.Array(Type.String())),
    requiredApprovals: optional(Positive),
  }),
  'approval.received': Type.Object({
    nodeId: Type.String(),
    action: Type.Enum(['accept', 'reject', 'refine', 'edit-accept', 'timeout']),
    decidedBy: optional(Type.String()),
    decidedAt: optional(Type.String()),
    comment: optional(Type.String()),
    feedback: optional(Type.String()),
    refineFeedback: optional(RefineFeedback),
    editedArtifactData: optional(Type.Unknown()),
  }),
  'approval.granted': Type.Object({
    gateId: Text,
    principal: Text,
    quorumProgress: optional(Type.Object({ granted: optional(Count), required: optional(Positive) })),
  }),
  'approval.rejected': Type.Object({ gateId: Text, principal: Text, reason: optional(Type.String()) }),
  'approval.overridden': Type.Object({ gateId: Text, principal: Text, reason: Text }),
  'authorization.decided': Type.Object({
    principal: Text,
    action: Text,
    resource: Text,
    allowed: Type.Boolean(),
    reason: optional(Type.String()),
  }),
  'clarification.requested': Type.Object({
    nodeId: Type.String(),
    questions: Type.Array(Type.Object({ id: Type.String(), question: Type.String() })),
    interruptId: optional(Type.String()),
  }),
  'clarification.resolved': Type.Object({
    nodeId: Type.String(),
    answers: Values,
    answeredBy: optional(Type.String()),
  }),
  'conversation.opened': Type.Object({ conversationId: ConversationId, initialTurn: Turn }),
  'conversation.exchanged': Type.Object({ conversationId: ConversationId, turnIndex: Count, turn: Turn }),
  'conversation.closed': Type.Object({
    conversationId: ConversationId,
    turnIndex: Count,
    finalTurn: Turn,
    outcome: optional(Type.Unknown()),
  }),
  'agent.reasoned': Type.Object({
    agentId: AgentId,
    reasoning: Type.String(),
    verbosity: optional(Type.Enum(['summary', 'full', 'off'])),
  }),
  'agent.reasoning.delta': Type.Object({
    agentId: AgentId,
    delta: Type.String(),
    sequence: Count,
    verbosity: optional(Type.Enum(['summary', 'full', 'off'])),
  }),
  'agent.toolCalled': Type.Object({
    agentId: AgentId,
    toolName: Text,
    callId: Text,
    inputs: optional(Type.Unknown()),
    argsHash: optional(Text),
    principal: optional(Text),
    transport: optional(Type.Enum(['mcp', 'http', 'native'])),
  }),
  'agent.toolReturned': Type.Object({
    agentId: AgentId,
    toolName: Text,
    callId: Text,
    outcome: optional(Type.Unknown()),
    error: optional(RunError),
    status: optional(Type.Enum(['ok', 'error', 'forbidden', 'rate_limited'])),
    durationMs: optional(Count),
  }),
  'agent.handoff': Type.Object({
    fromAgentId: AgentId,
    toAgentId: AgentId,
    reason: optional(Type.String()),
  }),
  'agent.decided': Type.Object({
    agentId: AgentId,
    decision: Type.Unknown(),
    confidence: optional(Type.Number({ minimum: 0, maximum: 1 })),
  }),
} as const;
