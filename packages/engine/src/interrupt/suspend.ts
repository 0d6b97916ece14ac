import type { JsonObject } from '@gantry/protocol';
import { textsAt } from '../payload.ts';
import type { PlanNode } from '../plan.ts';
import type { RunFacts } from '../run.ts';
import { emitCaused, emitNode, type Step } from '../step.ts';
import type { Interrupt, InterruptRequest } from './interrupt.ts';

/** Keys have at most 256 characters, ids of nodes any number. */
const NODE_ID_MAX = 128;

/**
 * Suspends the node with an interrupt. The number in the interrupt's key increases for the life of the run, so
 * a repeated visit of the node gets a new key and never an old answer.
 */
export function suspend(step: Step, node: PlanNode, request: InterruptRequest): Interrupt {
  const { run, now } = step;
  const nodeId = node.id;
  const key = nextKey(step, node);
  const { kind, data, resumeSchema, timeoutMs, reason, suspendedWith, memo, rules } = request;
  const suspended: JsonObject = { nodeId, interruptId: key, kind, key, ...suspendedWith };
  if (reason !== undefined) suspended.reason = reason;
  const suspendedSeq = run.nextSeq;
  emitNode(step, nodeId, 'node.suspended', suspended);
  const payload: JsonObject = { kind, key, data, runId: run.facts.runId, nodeId, interruptId: key };
  payload.requestedAt = new Date(now).toISOString();
  if (resumeSchema) payload.resumeSchema = resumeSchema;
  if (timeoutMs !== undefined) {
    payload.timeoutMs = timeoutMs;
    payload.expiresAt = new Date(now + timeoutMs).toISOString();
  }
  const sealed: JsonObject = {};
  if (memo) sealed.memo = memo;
  if (rules) sealed.rules = { ...rules };
  emitCaused(step, suspendedSeq, {
    type: 'interrupt.requested',
    nodeId,
    payload,
    ...(Object.keys(sealed).length > 0 && { sealed }),
  });
  const interrupt = run.interrupts.get(nodeId)!;
  tellByKind(step, node, interrupt);
  return interrupt;
}

/** Emits the older events in addition to `interrupt.requested`; not for a governance gate. */
function tellByKind(
  step: Step,
  { id: nodeId }: PlanNode,
  { kind, data, interruptId, rules }: Interrupt,
): void {
  if (kind === 'clarification') {
    const questions = data.questions ?? [];
    emitNode(step, nodeId, 'clarification.requested', { nodeId, questions, interruptId });
  }
  if (kind !== 'approval' || rules?.governance) return;
  const payload: JsonObject = { nodeId, interruptId };
  for (const name of REQUESTED) if (data[name] !== undefined) payload[name] = data[name];
  payload.actions = textsAt(data, 'actions').map((action) => (action === 'edit-accept' ? 'edit' : action));
  emitNode(step, nodeId, 'approval.requested', payload);
}

const REQUESTED = ['artifactId', 'artifactType', 'title', 'approversList', 'requiredApprovals'];

/** The key of the node's next interrupt, which is also its id. */
export function nextKey({ run }: Step, node: PlanNode): string {
  const name = node.id.length <= NODE_ID_MAX ? node.id : `node-${node.index}`;
  return `${originOf(run.facts)}:${name}:${(run.asked.get(node.id) ?? 0) + 1}`;
}

/** A replay repeats its source, including ids; other runs use their own id. */
const originOf = ({ runId, fork }: RunFacts): string => (fork?.mode === 'replay' ? fork.sourceRunId : runId);
