import type { Wait } from '../explain.ts';
import type { PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import { isEnded } from './child.ts';
import { awaited } from './requests.ts';

/** The children that a node waits for; undefined when it waits for none. */
export function childWaits(node: PlanNode, run: Run, since: number): Wait[] | undefined {
  const children = awaited(run, node.id)?.children ?? [];
  const open = children.filter((child) => !isEnded(child));
  if (open.length === 0) return;
  const nodeId = node.id;
  const ended = children.length - open.length;
  const share = children.length === 1 ? '' : ` (${ended} of ${children.length} have ended)`;
  const running = open.flatMap((child) => (child.status === 'running' ? [child] : []));
  const waits = running.map(({ workflowId, childRunId }): Wait => {
    const path = `/v1/runs/${childRunId}`;
    const text = `${nodeId} waits for its child run ${childRunId} of ${workflowId}${share}; see ${path}.`;
    return { kind: 'child', nodeId, since, text };
  });
  if (waits.length > 0) return waits;
  return [{ kind: 'child', nodeId, since, text: `${nodeId} is about to start a child run${share}.` }];
}
