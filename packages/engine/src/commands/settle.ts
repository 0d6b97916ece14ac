import { exhaust } from '../budget/budget.ts';
import { callWorkflow } from '../children/call.ts';
import { isAwaitingChild } from '../children/requests.ts';
import type { Command, Outcome } from '../command.ts';
import { type AskingNode, type PackSuspension, packInterrupt } from '../interrupt/pack-interrupt.ts';
import { suspend } from '../interrupt/suspend.ts';
import { isTooLarge, tooLarge } from '../json.ts';
import { completeNode, failNode, terminateNode } from '../node-run.ts';
import { tell } from '../nodes/pack-events.ts';
import { nodeConfig, type PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';

type About = Pick<Extract<Command, { type: 'settle' }>, 'nodeId' | 'attempt' | 'visit'>;

/** The running node that the command is about. Commands for another attempt or visit are too late, and ignored. */
export function nodeUnderWay({ plan, run }: Step, { nodeId, attempt, visit }: About): PlanNode | undefined {
  const node = plan.nodes.get(nodeId);
  if (run.status !== 'running' || !node?.leavesProcess) return;
  const state = run.nodes.get(node.id);
  if (state?.status !== 'running' || state.attempt !== attempt || isAwaitingChild(run, nodeId)) return;
  return run.visits.get(node.id) === visit ? node : undefined;
}

export function settle(step: Step, command: Extract<Command, { type: 'settle' }>): void {
  const node = nodeUnderWay(step, command);
  if (!node) return;
  const { outcome } = command;
  if (outcome.untold) tell(step, node, outcome.untold);
  step.cause = outcome.cause;
  end(step, node, outcome);
  step.cause = undefined;
}

function end(step: Step, node: PlanNode, outcome: Outcome): void {
  if ('suspend' in outcome) ask(step, node, outcome.suspend);
  else if ('exhausted' in outcome) exhaust(step, node, outcome.exhausted);
  else if ('call' in outcome) callWorkflow(step, node, outcome.call);
  else if ('terminate' in outcome) terminateNode(step, node, outcome.terminate);
  else if (outcome.ok) completeNode(step, node, outcome.outputs, outcome.variables);
  else failNode(step, node, outcome.error, outcome.retryable);
}

/** Limits suspensions: code that suspends in a loop would fill the log. */
const SUSPENSIONS_MAX = 1_000;

function ask(step: Step, node: PlanNode, suspension: PackSuspension): void {
  const { awaits } = suspension;
  // Another envelope has arrived since: the node runs again and finds it
  if (awaits && (step.run.envelopes ?? 0) > awaits.seen) return;
  const state = step.run.nodes.get(node.id);
  const asked = state?.status === 'running' ? Object.keys(state.answers ?? {}).length : 0;
  if (asked < SUSPENSIONS_MAX) {
    const interrupt = packInterrupt(suspension, askingNode(step, node), step.now);
    if (isTooLarge(interrupt.data)) failNode(step, node, tooLarge('The contents of the interrupt'), false);
    else suspend(step, node, interrupt);
    return;
  }
  const message = `The node has suspended ${SUSPENSIONS_MAX} times, which is its limit.`;
  failNode(step, node, { code: 'suspension_limit_exceeded', message }, false);
}

function askingNode({ run }: Step, node: PlanNode): AskingNode {
  const state = run.nodes.get(node.id);
  const inputs = (state?.status === 'running' && state.inputs) || {};
  return { nodeId: node.id, config: nodeConfig(node), inputs };
}
