import type { JsonObject } from '@gantry/protocol';
import { beginChildren } from '../children/chain.ts';
import { childView, type EndedChild, isEnded, type NodeChildren } from '../children/child.ts';
import { childrenOf } from '../children/fold-children.ts';
import { type JoinOutcome, judgeJoin, tallyOf } from '../children/join.ts';
import { type ChildTerms, mergeHarvests } from '../children/mapping.ts';
import { completeNode, failNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import { emitCaused, type Step } from '../step.ts';
import type { Dispatch } from './dispatch-config.ts';

/** Called after each end: concludes the join, or starts the next child. */
export function joinChildren(
  step: Step,
  node: PlanNode,
  terms: ChildTerms,
  { join, concurrency }: Extract<Dispatch['fanOut'], { policy: 'parallel' }>,
): void {
  const entry = childrenOf(step.run, node.id)!;
  const outcome = judgeJoin(join, tallyOf(entry.children));
  if (outcome === undefined) beginChildren(step, node, concurrency);
  else conclude(step, node, terms, entry, outcome);
}

function conclude(
  step: Step,
  node: PlanNode,
  terms: ChildTerms,
  entry: NodeChildren,
  joinOutcome: JoinOutcome,
): void {
  if (entry.children.length > 1) emitJoin(step, node, entry, joinOutcome);
  const children = childrenOf(step.run, node.id)!.children.filter(isEnded);
  if (joinOutcome === 'failed') {
    failNode(step, node, { code: 'child_failed', ...reasonOf(children) }, false);
    return;
  }
  const refusal = mergeHarvests(
    step,
    node,
    inMergeOrder(entry.ended, children).map((child) => ({
      child,
      outputs: terms.mappingOf(child.workflowId).outputs,
      variables: child.variables ?? {},
    })),
  );
  if (refusal) failNode(step, node, refusal, false);
  else completeNode(step, node, { joinOutcome, children: children.map(listed) });
}

function emitJoin(step: Step, node: PlanNode, entry: NodeChildren, joinOutcome: JoinOutcome): void {
  const { completed, failed, cancelled, open } = tallyOf(entry.children);
  emitCaused(step, entry.causeSeq, {
    type: 'core.dispatch.join',
    nodeId: node.id,
    payload: {
      joinOutcome,
      completedCount: completed,
      failedCount: failed,
      cancelledCount: cancelled + open,
      mergeOrder: [...entry.ended],
    },
    sealed: { visit: entry.visit },
  });
}

/** Children are merged in the order in which the parent recorded their ends, so the last one wins. */
function inMergeOrder(ended: readonly string[], children: readonly EndedChild[]): EndedChild[] {
  const byId = new Map(children.map((child) => [child.childRunId, child]));
  return ended.flatMap((childRunId) => {
    const child = byId.get(childRunId);
    return child?.status === 'completed' ? [child] : [];
  });
}

const listed = (child: EndedChild): JsonObject => ({ workflowId: child.workflowId, ...childView(child) });

function reasonOf(children: readonly EndedChild[]): { message: string; details: JsonObject } {
  const { completed, failed, cancelled } = tallyOf(children);
  const first = children.find(({ status, released }) => status !== 'completed' && !released);
  return {
    message: `The join failed: of ${children.length} children ${completed} completed, ${failed} failed.`,
    details: {
      joinOutcome: 'failed',
      completedCount: completed,
      failedCount: failed,
      cancelledCount: cancelled,
      ...(first && { firstFailure: listed(first) }),
    },
  };
}
