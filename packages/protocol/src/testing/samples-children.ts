import type { EventPayloads } from '../index.ts';

const PARENT = 'run_01k5v2h0q8m3x9t4z7c6b1n0da';
const CHILD = 'run_01k5v2h0q8m3x9t4z7c6b1n0db';
const decision = { kind: 'next-worker' as const, nextWorkerIds: ['invoice'], confidence: 0.9 };

export const childPayloads = {
  'runOrchestrator.decided': { agentId: 'acme.lead', decision, iteration: 2 },
  'node.dispatched': { childRunId: CHILD, childWorkflowId: 'invoice', childStatus: 'pending' },
  'core.workflowChain.event': {
    phase: 'output.harvested',
    workerId: 'invoice',
    parentRunId: PARENT,
    childRunId: CHILD,
    harvestedKeys: ['total'],
    attestation: { checksum: 'ab12', algorithm: 'sha256' },
    error: { code: 'x', message: 'x' },
  },
  'core.workflowChain.confidence-escalated': {
    confidence: 0.3,
    floor: 0.5,
    escalationKind: 'escalate',
    parentRunId: PARENT,
    workerId: 'invoice',
    originalDecision: decision,
  },
} as const satisfies Partial<EventPayloads>;
