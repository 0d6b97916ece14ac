/** Handles forks that start in the middle of a step: between events that the engine always writes together. */
import type { JsonObject, RunEvent } from '@gantry/protocol';
import { isDecided } from '../interrupt/quorum.ts';
import { objectAt, textAt } from '../payload.ts';
import type { Plan, PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import { isWellFormed } from './recording.ts';

/** Whether every active node waits for something that can still happen. */
export const isWhole = (plan: Plan, run: Run): boolean => plan.order.every((node) => isWholeNode(node, run));

function isWholeNode(node: PlanNode, run: Run): boolean {
  const state = run.nodes.get(node.id);
  if (state?.status === 'suspended') {
    const interrupt = run.interrupts.get(node.id);
    return interrupt !== undefined && !isDecided(interrupt);
  }
  if (state?.status !== 'running' || node.leavesProcess || state.dueAt !== undefined) return true;
  const entry = run.children.get(node.id);
  if (!entry || entry.visit !== run.visits.get(node.id)) return false;
  return entry.children.some(({ status }) => status === 'wanted' || status === 'running');
}

const ENDINGS = new Set(['run-failed', 'run-cancelled', 'run-terminated']);

/** The rest of the source's log, if it completes a step that already ended the run before `fromSeq`. */
export function cutEnding(events: readonly RunEvent[], fromSeq: number): readonly RunEvent[] {
  const last = events[fromSeq - 1];
  const rest = events.slice(fromSeq);
  const end = rest.at(-1);
  if (!last || !end || !rest.every(isWellFormed) || !isWellFormed(last)) return [];
  if (!rest.slice(0, -1).every(isEnding)) return [];
  const leads = end.type === 'run.completed' ? isTerminated(events, fromSeq) : leadsTo(last, end);
  return leads ? rest : [];
}

const isEnding = (event: RunEvent): boolean => event.type === 'run.dead_lettered' || isReleased(event);

const isReleased = ({ type, payload }: RunEvent): boolean =>
  (type === 'node.cancelled' || type === 'node.skipped') && ENDINGS.has(textAt(payload, 'reason'));

/** Whether a decision to terminate was executed: the node that did so was the last to complete. */
function isTerminated(events: readonly RunEvent[], fromSeq: number): boolean {
  const last = events[fromSeq - 1]!;
  if (isReleased(last)) return textAt(last.payload, 'reason') === 'run-terminated';
  if (last.type !== 'node.completed') return false;
  const decided = events.slice(0, fromSeq).findLast((event) => event?.type === 'runOrchestrator.decided');
  return textAt(objectAt(decided?.payload, 'decision') ?? {}, 'kind') === 'terminate';
}

function leadsTo(last: RunEvent, end: RunEvent): boolean {
  const released = isReleased(last) ? textAt(last.payload, 'reason') : '';
  if (end.type === 'run.cancelled') return released === 'run-cancelled';
  if (end.type !== 'run.failed') return false;
  switch (last.type) {
    case 'node.failed':
    case 'run.dead_lettered':
    case 'cap.breached':
    case 'workflow.loopback-limit':
      return true;
    case 'node.completed':
      return failedNode(end.payload) === last.nodeId;
    default:
      return released === 'run-failed';
  }
}

const failedNode = (payload: JsonObject): string => textAt(payload, 'failedNodeId');
