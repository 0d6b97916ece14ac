/** What the shell asks about children between commands. All of it follows from the state alone. */
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

/** Asked for after every step, so they are prepared a few at a time: a node's own together, then the next node's. */
const REQUESTS_MAX = 32;

/** Children that the shell has to start now: the same in normal work and after a crash. */
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

/** What a parent keeps from readers must not come to light in its child. */
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

/** Child runs that are under way and wanted. The run may be paused: they go on, and their end waits. */
export const runningChildren = (run: Run): RunningChild[] =>
  [...run.children].flatMap(([nodeId]) => runningOf(run, nodeId));

export interface ChildRun {
  readonly runId: string;
  readonly status: 'running' | ChildStatus;
}

/** The child runs that its nodes started in their present visits. */
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

/** Whether the run that has these facts is a child which its parent waits for. */
export function isRunningChild(parent: Run, { runId, parent: link }: RunFacts): boolean {
  const entry = link && awaited(parent, link.nodeId);
  if (!entry || entry.visit !== link.visit) return false;
  return entry.children.some((child) => child.status === 'running' && child.childRunId === runId);
}

/** Child runs that were under way before and are not wanted any more: they are to be cancelled. */
export function childrenToCancel(plan: Plan, before: Run, after: Run): string[] {
  // The children that a replay knows of are its source's.
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

/** Nodes that may stand for other children than before. */
function nodesWithChanges(before: Run, after: Run): string[] {
  if (isTerminal(before.status) !== isTerminal(after.status)) return [...before.children].map(([id]) => id);
  const changed = [...after.children.changedFrom(before.children), ...after.nodes.changedFrom(before.nodes)];
  return [...new Set(changed)];
}

/** Workflows that the definition names as children. A host that lacks one refuses the run. */
export function childWorkflows(plan: Plan): { nodeId: string; workflowId: string }[] {
  return plan.order.flatMap((node) => {
    if (node.typeId !== 'core.subWorkflow' || node.disabled) return [];
    const { workflowId } = nodeConfig(node);
    return typeof workflowId === 'string' ? [{ nodeId: node.id, workflowId }] : [];
  });
}

/** The children that the node's present visit still stands for. */
export function awaited(run: Run, nodeId: string): NodeChildren | undefined {
  const status = run.nodes.get(nodeId)?.status;
  if (isTerminal(run.status) || (status !== 'running' && status !== 'suspended')) return;
  const entry = childrenOf(run, nodeId);
  return entry && entry.visit === run.visits.get(nodeId) ? entry : undefined;
}

/** Whether the node goes on only when a child has ended. */
export const isAwaitingChild = (run: Run, nodeId: string): boolean =>
  awaited(run, nodeId)?.children.some((child) => !isEnded(child)) ?? false;
