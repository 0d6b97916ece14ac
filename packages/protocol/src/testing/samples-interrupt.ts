/** Samples of the payloads in `event-payload-interrupt.ts`. */
import type { Static } from 'typebox';
import type { INTERRUPT_EVENT_PAYLOADS } from '../event-payload-interrupt.ts';

type Payloads = {
  [T in keyof typeof INTERRUPT_EVENT_PAYLOADS]: Static<(typeof INTERRUPT_EVENT_PAYLOADS)[T]>;
};

const nodeId = 'gate';
const interruptId = 'run_1:gate:1';
const agentId = 'core.some.agent';
const conversationId = 'run_1:talk:1';
const turn = (turnIndex: number) => ({
  messageId: `${conversationId}:${turnIndex}:user`,
  from: 'user',
  content: 'hello',
  ts: 5,
  role: 'user' as const,
  turnIndex,
});
const call = { agentId, toolName: 'echo', callId: 'gate:1:0' };

export const interruptPayloads: Payloads = {
  'node.suspended': { nodeId, interruptId, kind: 'approval', key: interruptId },
  'node.resumed': { nodeId, interruptId, resumeValue: { action: 'accept' } },
  'interrupt.requested': {
    kind: 'clarification',
    key: interruptId,
    data: { questions: [{ id: 'q', question: 'Which?' }] },
    resumeSchema: { type: 'object' },
    timeoutMs: 1_000,
  },
  'interrupt.resolved': {
    nodeId,
    interruptId,
    kind: 'approval',
    resumeValue: { action: 'accept' },
    resolvedAt: '2026-09-01T10:00:00.000Z',
    resolvedBy: 'key_7',
  },
  'approval.requested': {
    nodeId,
    artifactId: 'a1',
    artifactType: 'text',
    actions: ['accept', 'edit'],
    interruptId,
    title: 'Publish?',
    approversList: ['ann'],
    requiredApprovals: 2,
  },
  'approval.received': {
    nodeId,
    action: 'refine',
    decidedBy: 'key_7',
    decidedAt: '2026-09-01T10:00:00.000Z',
    comment: 'nearly',
    feedback: 'shorter',
    refineFeedback: { scope: 'whole', text: 'shorter' },
    editedArtifactData: null,
  },
  'approval.granted': {
    gateId: nodeId,
    principal: 'key_7',
    quorumProgress: { granted: 1, required: 2 },
  },
  'approval.rejected': { gateId: nodeId, principal: 'key_7', reason: 'too early' },
  'approval.overridden': { gateId: nodeId, principal: 'key_7', reason: 'outage' },
  'authorization.decided': {
    principal: 'key_7',
    action: 'approvals:respond',
    resource: 'run_1',
    allowed: false,
    reason: 'lacks the role',
  },
  'clarification.requested': { nodeId, questions: [{ id: 'q', question: 'Which?' }], interruptId },
  'clarification.resolved': { nodeId, answers: { q: 'blue' }, answeredBy: 'key_7' },
  'conversation.opened': { conversationId, initialTurn: turn(0) },
  'conversation.exchanged': { conversationId, turnIndex: 1, turn: turn(1) },
  'conversation.closed': { conversationId, turnIndex: 2, finalTurn: turn(2), outcome: null },
  'agent.reasoned': { agentId, reasoning: 'because', verbosity: 'summary' },
  'agent.reasoning.delta': { agentId, delta: 'be', sequence: 0, verbosity: 'summary' },
  'agent.toolCalled': { ...call, inputs: { x: 1 } },
  'agent.toolReturned': { ...call, outcome: { x: 1 }, durationMs: 3 },
  'agent.handoff': { fromAgentId: agentId, toAgentId: 'core.other.agent', reason: 'routing' },
  'agent.decided': { agentId, decision: { next: 'done' }, confidence: 1 },
};
