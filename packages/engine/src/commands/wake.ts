import type { Command } from '../command.ts';
import { drain } from '../drain.ts';
import { close } from '../interrupt/close.ts';
import { endConversation } from '../interrupt/conversation.ts';
import { BY_TIMEOUT, hasExpired, type Interrupt } from '../interrupt/interrupt.ts';
import { completeNode, failNode, runNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { NodeState } from '../run.ts';
import type { Step } from '../step.ts';

type Wake = Extract<Command, { type: 'wake' }>;

export function wake(step: Step, { maxEvents, onlyEnds }: Wake): void {
  for (const node of step.plan.order) {
    if (step.run.status !== 'running' || step.events.length >= maxEvents) return;
    const state = step.run.nodes.get(node.id);
    if (state && (!onlyEnds || state.status === 'running')) wakeNode(step, node, state);
  }
  if (!onlyEnds) drain(step, maxEvents);
}

function wakeNode(step: Step, node: PlanNode, state: NodeState): void {
  const interrupt = step.run.interrupts.get(node.id);
  if (interrupt && hasExpired(interrupt, step.now)) expire(step, node, interrupt);
  else if (state.status === 'retrying') {
    if (state.retryAt <= step.now) runNode(step, node);
  } else if (state.status === 'running') {
    const { dueAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } = state;
    if (dueAt <= step.now && dueAt <= timeoutAt) completeNode(step, node, {});
    else if (timeoutAt <= step.now) timeOut(step, node);
  }
}

/** A timeout closes the interrupt, and never as accepted. */
function expire(step: Step, node: PlanNode, interrupt: Interrupt): void {
  const by = BY_TIMEOUT;
  if (interrupt.kind.startsWith('conversation.'))
    endConversation(step, node, interrupt, { outcome: null, by, timedOut: true });
  else close(step, node, { interrupt, value: null, by, rejected: 'timeout' });
}

function timeOut(step: Step, node: PlanNode): void {
  const message = `The node took longer than its limit of ${node.retry.timeoutMs} ms.`;
  failNode(step, node, { code: 'node_timeout', message }, true);
}
