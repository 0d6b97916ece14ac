/** What the shell asks about children between commands. All of it follows from the state alone. */
import { isTerminal } from '@gantry/protocol';
import type { Plan } from '../plan.ts';
import { nodeConfig } from '../plan.ts';
import type { Run } from '../run.ts';
import { type Child, type ChildRequest, isEnded, type NodeChildren, type RunningChild } from './child.ts';
import { childrenOf } from './fold-children.ts';
import { mapInputs } from './mapping.ts';

/** Children that the shell has to start now: the same in normal work and after a crash. */
export function childRequests(plan: Plan, run: Run): ChildRequest[] {
  if (run.status !== 'running') return [];
  return presentChildren(run).flatMap(({ nodeId, visit, callInputs, child }): ChildRequest[] => {
    const terms = plan.nodes.get(nodeId)?.behaviour.children;
    if (child.status !== 'wanted' || !terms) return [];
    const { workflowId, index } = child;
    const about = { nodeId, visit, index, workflowId };
    if (callInputs) return [{ ...about, inputs: callInputs, unset: [], harvest: [], reportsOutputs: true }];
    const mapping = terms.mappingOf(workflowId);
    const harvest = [...new Set(Object.values(mapping.outputs))];
    return [{ ...about, ...mapInputs(mapping.inputs, run.variables), harvest }];
  });
}

/** Child runs that are under way and wanted. The run may be paused: they go on, and their end waits. */
export function runningChildren(run: Run): RunningChild[] {
  return presentChildren(run).flatMap(({ nodeId, visit, child }) => {
    if (child.status !== 'running') return [];
    const { workflowId, index, childRunId } = child;
    return [{ nodeId, visit, index, workflowId, childRunId }];
  });
}

/** Child runs that were under way before and are not wanted any more: they are to be cancelled. */
export function childrenToCancel(plan: Plan, before: Run, after: Run): string[] {
  // The children that a replay knows of are its source's.
  if (after.facts.fork?.mode === 'replay') return [];
  const wanted = new Set(runningChildren(after).map(({ childRunId }) => childRunId));
  return runningChildren(before)
    .filter(({ nodeId }) => plan.nodes.get(nodeId)?.behaviour.children?.propagateCancellation !== false)
    .filter(({ nodeId, childRunId }) => !wanted.has(childRunId) && !hasReported(after, nodeId, childRunId))
    .map(({ childRunId }) => childRunId);
}

/** Workflows that the definition names as children. A host that lacks one refuses the run. */
export function childWorkflows(plan: Plan): { nodeId: string; workflowId: string }[] {
  return plan.order.flatMap((node) => {
    const { workflowId } = nodeConfig(node);
    if (node.typeId !== 'core.subWorkflow' || node.disabled || typeof workflowId !== 'string') return [];
    return [{ nodeId: node.id, workflowId }];
  });
}

/** The children that the node's present visit still stands for. */
export function awaited(run: Run, nodeId: string): NodeChildren | undefined {
  const status = run.nodes[nodeId]?.status;
  if (isTerminal(run.status) || (status !== 'running' && status !== 'suspended')) return;
  const entry = childrenOf(run, nodeId);
  return entry && entry.visit === run.visits[nodeId] ? entry : undefined;
}

/** Whether the node goes on only when a child has ended. */
export const isAwaitingChild = (run: Run, nodeId: string): boolean =>
  awaited(run, nodeId)?.children.some((child) => !isEnded(child)) ?? false;

interface PresentChild extends Pick<NodeChildren, 'visit' | 'callInputs'> {
  readonly nodeId: string;
  readonly child: Child;
}

function presentChildren(run: Run): PresentChild[] {
  return Object.keys(run.children).flatMap((nodeId) => {
    const entry = awaited(run, nodeId);
    if (!entry) return [];
    const { children, ...about } = entry;
    return children.map((child) => ({ ...about, nodeId, child }));
  });
}

const hasReported = (run: Run, nodeId: string, childRunId: string): boolean =>
  childrenOf(run, nodeId)?.ended.includes(childRunId) ?? false;
