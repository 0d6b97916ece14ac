/** Starts and tracks children: each step of a child is an event caused by the previous step. */
import type { JsonObject } from '@gantry/protocol';
import type { PlanNode } from '../plan.ts';
import { emitCaused, type Step } from '../step.ts';
import type { Child } from './child.ts';
import { childrenOf } from './fold-children.ts';
import { roomFor } from './join.ts';

type Phase =
  | 'dispatch.began'
  | 'dispatch.succeeded'
  | 'dispatch.failed'
  | `child.${'completed' | 'failed' | 'cancelled'}`
  | 'output.harvested';

export interface Workers {
  readonly workers: readonly string[];
  /** How many may run at once. */
  readonly concurrency: number;
  /** Sequence of the decision that requests them; absent for a sub-workflow. */
  readonly causeSeq?: number;
  /** Set by pack code that calls a workflow. */
  readonly callInputs?: JsonObject;
}

/** The node requests these children, one after the other or several at once. */
export function openChildren(step: Step, node: PlanNode, asked: Workers): void {
  const { workers, concurrency, causeSeq, callInputs } = asked;
  const opening = { ...openingOf(step, node, workers, causeSeq), ...(callInputs && { callInputs }) };
  const first = { workflowId: workers[0]!, index: 0, status: 'queued' as const };
  const { payload, sealed } = chainEvent(step, node, first, 'dispatch.began');
  emitCaused(step, causeSeq ?? step.run.nextSeq - 1, {
    type: 'core.workflowChain.event',
    nodeId: node.id,
    payload,
    sealed: { ...sealed, ...opening },
  });
  beginChildren(step, node, concurrency);
}

/** The data that the fold needs to list future children. */
export function openingOf(
  step: Step,
  node: PlanNode,
  workers: readonly string[],
  causeSeq: number | undefined,
): JsonObject {
  const visit = step.run.visits.get(node.id) ?? 1;
  return { visit, workers: [...workers], ...(causeSeq !== undefined && { causeSeq }) };
}

/** Starts queued children up to the concurrency limit. */
export function beginChildren(step: Step, node: PlanNode, concurrency: number): void {
  const { children } = childrenOf(step.run, node.id)!;
  const queued = children.filter((child) => child.status === 'queued');
  for (const child of queued.slice(0, Math.max(0, roomFor(children, concurrency))))
    emitChain(step, node, child, 'dispatch.began');
}

export function emitChain(
  step: Step,
  node: PlanNode,
  child: Child,
  phase: Phase,
  extras: { readonly payload?: JsonObject; readonly sealed?: JsonObject } = {},
): void {
  const { payload, sealed } = chainEvent(step, node, child, phase);
  emitCaused(step, child.chainSeq ?? childrenOf(step.run, node.id)?.causeSeq, {
    type: 'core.workflowChain.event',
    nodeId: node.id,
    payload: { ...payload, ...extras.payload },
    sealed: { ...sealed, ...extras.sealed },
  });
}

function chainEvent(
  step: Step,
  node: PlanNode,
  child: Child,
  phase: Phase,
): { payload: JsonObject; sealed: JsonObject } {
  const childRunId = 'childRunId' in child ? child.childRunId : undefined;
  const payload: JsonObject = { phase, workerId: child.workflowId, parentRunId: step.run.facts.runId };
  if (childRunId !== undefined) payload.childRunId = childRunId;
  return { payload, sealed: { visit: step.run.visits.get(node.id) ?? 1, index: child.index } };
}
