/** Queries of the shell about children between commands. All answers follow from the state alone. */
import { isTerminal, type RunError } from '@gantry/protocol';
import { nodeConfig, type Plan } from '../plan.ts';
import type { Run, RunFacts } from '../run.ts';
import {
  type Child,
  type ChildRequest,
  type ChildStatus,
  isEnded,
  type NodeChildren,
  type RunningChild,
} from './child.ts';
import { childrenOf } from './fold-children.ts';
import { mapInputs } from './mapping.ts';

/**
 * Requests are computed after every step, so only a few are prepared at a time: all of one node, then those of
 * the next.
 */
const REQUESTS_MAX = 32;

/** Children that the shell must start now: the same in normal operation and after a crash. */
export function childRequests(plan: Plan, run: Run): ChildRequest[] {
  const requests: ChildRequest[] = [];
  if (run.status !== 'running') return requests;
  for (const chunk of run.children.chunks)
    for (const { id, value } of chunk) {
      if (!value?.children.some(isWanted) || !awaited(run, id)) continue;
      requests.push(...requestsOf(plan, run, id, value));
      if (requests.length >= REQUESTS_MAX) return requests;
    }
  return requests;
}

const isWanted = ({ status }: Child): boolean => status === 'wanted';

function requestsOf(
  plan: Plan,
  run: Run,
  nodeId: string,
  { visit, children, callInputs }: NodeChildren,
): ChildRequest[] {
  const terms = plan.nodes.get(nodeId)?.behaviour.children;
  if (!terms) return [];
  return children.filter(isWanted).map(({ workflowId, index }): ChildRequest => {
    const about = { nodeId, visit, index, workflowId };
    if (callInputs) return { ...about, inputs: callInputs, unset: [], harvest: [], reportsOutputs: true };
    const mapping = terms.mappingOf(workflowId);
    const harvest = [...new Set(Object.values(mapping.outputs))];
    return { ...about, ...mapInputs(mapping.inputs, run.variables), harvest };
  });
}

/** Sensitive variables of a parent must not become readable in its child. */
export function exposedInput(parent: Plan, child: Plan, request: ChildRequest): RunError | undefined {
  const terms = parent.nodes.get(request.nodeId)?.behaviour.children;
  if (!terms || request.reportsOutputs) return;
  const { inputs } = terms.mappingOf(request.workflowId);
  const name = Object.keys(request.inputs).find(
    (to) => parent.variables.get(inputs[to]!)?.sensitive && child.variables.get(to)?.sensitive !== true,
  );
  if (name === undefined) return;
  const message = `The parent declares ${inputs[name]} as sensitive; declare the variable ${name} of ${request.workflowId} as sensitive too.`;
  return { code: 'validation_error', message, details: { path: `/inputs/${name}` } };
}

/** Child runs that are running and awaited. If the run is paused they continue, and their end waits. */
export const runningChildren = (run: Run): RunningChild[] =>
  [...run.children].flatMap(([nodeId]) => runningOf(run, nodeId));

export interface ChildRun {
  readonly runId: string;
  readonly status: 'running' | ChildStatus;
}

/** The child runs that its nodes started in their current visits. */
export const childRuns = (run: Run): ChildRun[] =>
  [...run.children].flatMap(([, { children }]) =>
    children.flatMap((child) => {
      if (child.status === 'queued' || child.status === 'wanted' || child.childRunId === undefined) return [];
      return [{ runId: child.childRunId, status: child.status }];
    }),
  );

function runningOf(run: Run, nodeId: string): RunningChild[] {
  const { visit, children } = awaited(run, nodeId) ?? { visit: 0, children: [] };
  return children.flatMap((child) => {
    if (child.status !== 'running') return [];
    const { workflowId, index, childRunId } = child;
    return [{ nodeId, visit, index, workflowId, childRunId }];
  });
}

/** Whether the run with these facts is a child that its parent waits for. */
export function isRunningChild(parent: Run, { runId, parent: link }: RunFacts): boolean {
  const entry = link && awaited(parent, link.nodeId);
  if (!entry || entry.visit !== link.visit) return false;
  return entry.children.some((child) => child.status === 'running' && child.childRunId === runId);
}

/** Child runs that were running before and are no longer awaited: they must be cancelled. */
export function childrenToCancel(plan: Plan, before: Run, after: Run): string[] {
  // The children in a replay belong to its source.
  if (after.facts.fork?.mode === 'replay') return [];
  return nodesWithChanges(before, after)
    .filter((nodeId) => plan.nodes.get(nodeId)?.behaviour.children?.propagateCancellation !== false)
    .flatMap((nodeId) => {
      const wanted = new Set(runningOf(after, nodeId).map(({ childRunId }) => childRunId));
      const reported = new Set(childrenOf(after, nodeId)?.ended);
      return runningOf(before, nodeId)
        .map(({ childRunId }) => childRunId)
        .filter((childRunId) => !wanted.has(childRunId) && !reported.has(childRunId));
    });
}

/** Nodes whose awaited children may have changed. */
function nodesWithChanges(before: Run, after: Run): string[] {
  if (isTerminal(before.status) !== isTerminal(after.status)) return [...before.children].map(([id]) => id);
  const changed = [...after.children.changedFrom(before.children), ...after.nodes.changedFrom(before.nodes)];
  return [...new Set(changed)];
}

/** Workflows that the definition names as children. A host without one of them refuses the run. */
export function childWorkflows(plan: Plan): { nodeId: string; workflowId: string }[] {
  return plan.order.flatMap((node) => {
    if (node.typeId !== 'core.subWorkflow' || node.disabled) return [];
    const { workflowId } = nodeConfig(node);
    return typeof workflowId === 'string' ? [{ nodeId: node.id, workflowId }] : [];
  });
}

/** The children that the node's current visit still waits for. */
export function awaited(run: Run, nodeId: string): NodeChildren | undefined {
  const status = run.nodes.get(nodeId)?.status;
  if (isTerminal(run.status) || (status !== 'running' && status !== 'suspended')) return;
  const entry = childrenOf(run, nodeId);
  return entry && entry.visit === run.visits.get(nodeId) ? entry : undefined;
}

/** Whether the node continues only when a child has ended. */
export const isAwaitingChild = (run: Run, nodeId: string): boolean =>
  awaited(run, nodeId)?.children.some((child) => !isEnded(child)) ?? false;
